// SPDX-License-Identifier: Apache-2.0

// Package catchup keeps what a plugin misses while it is disconnected (L18).
//
// A [Store] outlives connections and the runtime. A [Record] is the part of it that belongs to
// the plugin of one name. A record works on the ledger of that name, which has the objects that
// the plugin knows. While a plugin is connected, the store has only its name and the ends that
// it wants, so that an end that it answers writes nothing.
//
//	plugin joins        Records.Joined  stores its name, and the ends that it wants
//	plugin leaves       Record.Left     stores the objects that it knows: its ledger
//	an end is missed    Record.Miss     stores the end; the ledger does not change
//	runtime starts      Records.Recall  makes ledgers from the store and the runtime's list
//	plugin is back      Record.Missed   returns the missed ends, for the head of its line
//	an end is answered  Record.Heard    deletes the end
package catchup
