// SPDX-License-Identifier: Apache-2.0

package recovery

import "github.com/hookline-nri/hookline/internal/edit"

// UnreadableRecords prevents that one unreadable value of a record fails all lists.
var UnreadableRecords = edit.Patch{
	Slug:    "unreadable-records",
	Module:  "containerd",
	Subject: "metadata: set aside unreadable values of a record",
	Body: `One unreadable value in the record of a sandbox or container fails every
list of sandboxes or containers. CRI lists them at its start, so it does
not start, and all pods of the node are without a runtime.

A list without that record is no remedy. A caller that takes it for
complete removes the folders of a running container, frees its
addresses, and starts it once more.

So set the value aside when the database is opened: move it within the
record, which can then be listed, read, changed and removed like any
other. An extension of the record says which value was set aside and
why. The log names it, and a metric counts it. If all values can be
read, nothing is written.

Records of all clients are checked. A container of ctr, moby or nerdctl
with such a value can be listed, stopped and deleted again. It cannot be
started, nor entered by ctr or nerdctl, because runtimes reject the
replacement for the specification. That holds also if only the options
of its runtime are lost. A time is replaced without an extension. A
released containerd can read the result.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L22"},
	Status: edit.Upstream,
	Until:  "one record does not fail lists of sandboxes and containers, and they leave no record out",
	Edits: []edit.Edit{
		edit.In("core/metadata/db.go", edit.Method("DB", "Init")).After(edit.Stmt(edit.If("err == errSkip")), `if err == nil {
	m.setAside(ctx)
}`),
	},
}
