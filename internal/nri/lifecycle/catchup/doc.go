// SPDX-License-Identifier: Apache-2.0

// Package catchup keeps what a plugin misses while it is disconnected (L18).
//
// A [Store] outlives connections, and the runtime. A [Record] is what is kept there of the
// plugin of one name. It works on the ledger of that name, which is what the plugin knows. Of
// a plugin that is there only its name is kept, so that an end that it hears costs no
// writing.
//
//	plugin joins   Record.Joined      its name, and the ends that it wants
//	plugin leaves  Record.Left        what it knows: the ledger
//	an end comes   Record.Miss         the end, which the ledger does not have as told
//	runtime starts Records.Recall     ledgers, of what was kept and what the runtime lists
//	plugin is back Record.Missed      the ends, for the head of its line
//	an end is told Record.Heard       no end
package catchup
