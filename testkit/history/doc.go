// SPDX-License-Identifier: Apache-2.0

// Package history checks the events of one connection of a plugin against rules L1 to L4 of the
// contract. It reads only the plugin's record, so that it works for every runtime.
//
// It is for plugins that subscribe to all events: the order of a record with gaps
// cannot be checked.
package history
