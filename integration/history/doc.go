// SPDX-License-Identifier: Apache-2.0

// Package history holds what one connection of a plugin was told against rules
// L1 to L4 of the contract. It looks at the plugin's record alone, so that it
// can say the same of every runtime.
//
// It is for plugins that subscribe to all events: with gaps in a record,
// nothing could be said of its order.
package history
