// SPDX-License-Identifier: Apache-2.0

// Package ledger records which events of pods and containers one plugin has received. From
// that record it decides whether the plugin may receive an event, has received it before, or
// must receive another event first.
//
// An [Event] has a [Kind]. An [Object] is a pod or container as the runtime lists it, and a
// [Snapshot] is a list of them. A [Ledger] takes no lock, starts no goroutine and calls no
// other code: the same events always have the same outcome.
package ledger
