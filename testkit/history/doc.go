// SPDX-License-Identifier: Apache-2.0

// Package history checks the events of one connection of a plugin against rules L1 to
// L4 of the contract. It reads the plugin's record alone, so that it fits every
// runtime.
//
// It is for plugins that subscribe to all events: the order of a record with gaps
// cannot be checked.
package history
