// SPDX-License-Identifier: Apache-2.0

package recovery

import "github.com/hookline-nri/hookline/internal/edit"

// UnreadableRecords keeps what cannot be read of a sandbox or container from failing all lists.
var UnreadableRecords = edit.Patch{
	Slug:    "unreadable-records",
	Module:  "containerd",
	Subject: "metadata: set aside what cannot be read of a record",
	Body: `One value in the record of a sandbox or container that cannot be read fails every
list of them. CRI lists them when it starts: it does not start, and all pods of
the node are without a runtime.

A list without that record is no remedy. Who takes it for complete removes the
folders of a container that runs, frees its addresses, and starts it once more.

So set the value aside when the database is opened: put it elsewhere in the record,
which can then be listed, read, changed and removed like any other. An extension of
the record says what was set aside and why, the log names it, and it is counted.
Nothing is written where all can be read.

Records of every client are looked at. A container of ctr, moby or nerdctl with
such a value can be listed, stopped and deleted again. It cannot be started, nor
entered by ctr or nerdctl: runtimes reject what takes the place of the
specification, also where only the options of its runtime are lost. A time is
replaced and marks nothing. A released containerd reads the result.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L22"},
	Status: edit.Upstream,
	Until:  "lists of sandboxes and containers are not failed by one record, and leave none out",
	Edits: []edit.Edit{
		edit.In("core/metadata/db.go", edit.Method("DB", "Init")).After(edit.Stmt(edit.If("err == errSkip")), `if err == nil {
	m.setAside(ctx)
}`),
	},
}
