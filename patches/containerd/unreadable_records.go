// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// UnreadableRecords lists sandboxes and containers past those that cannot be read.
var UnreadableRecords = edit.Patch{
	Slug:    "unreadable-records",
	Module:  "containerd",
	Subject: "metadata: list the records that can be read",
	Body: `One record of a sandbox or container that cannot be read fails every list of
them. CRI lists them when it starts: it does not come up, and all pods of the
node are without a runtime.

Leave such a record out of the list, name it in the log and count it. Whoever
asks for that one gets the error, as before.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L22"},
	Status: edit.Upstream,
	Until:  "lists of sandboxes and containers are not failed by one record",
	Edits: []edit.Edit{
		edit.In(sandboxRecords, edit.Method("sandboxStore", "List")).Replace(edit.Stmt(edit.If("err != nil")).Within(edit.Call("bucket.ForEach")), `if err != nil {
	leaveOut(ctx, "sandbox", string(k), err)
	return nil
}`),
		edit.In("core/metadata/containers.go", edit.Method("containerStore", "List")).Replace(edit.Stmt(edit.Call("readContainer")), `if err := readContainer(&container, cbkt); err != nil {
	leaveOut(ctx, "container", string(k), err)
	return nil
}`),
	},
}
