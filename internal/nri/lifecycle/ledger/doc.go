// SPDX-License-Identifier: Apache-2.0

// Package ledger keeps what one plugin was told of pods and containers, and says from that
// what it may be told, what it was told before, and what it has to be told first.
//
// It speaks of an [Event] of a [Kind], of the [Object] that a runtime lists, and of a
// [Snapshot] of these. A [Ledger] holds no lock, starts nothing and asks nobody: the same
// events have the same outcome.
package ledger
