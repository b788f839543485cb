// SPDX-License-Identifier: Apache-2.0

package interruptedsnapshot

import "github.com/hookline-nri/hookline/internal/edit"

// InterruptedSnapshot removes the folder of a snapshot that was never recorded.
var InterruptedSnapshot = edit.Patch{
	Slug:    "interrupted-snapshot",
	Module:  "containerd",
	Subject: "overlay: replace the folder of a snapshot that was not recorded",
	Body: `The first pod after a kill of containerd may fail with "failed to
rename: file exists". The overlay snapshotter puts the folder of a
snapshot in its place before it commits the record. If it is killed
between these two, the folder stays, and the next snapshot gets the same
number.

Empty the place of a snapshot before its folder is put there. The record
is new in this transaction, so nothing else uses its number.`,
	Rules:  []string{"L7", "L15"},
	Status: edit.Upstream,
	Until:  "the overlay snapshotter creates a snapshot although a folder with its number exists",
	Edits: []edit.Edit{
		edit.In("plugins/snapshots/overlay/overlay.go", edit.Method("snapshotter", "createSnapshot")).
			Before(edit.Stmt(edit.Mentions("os.Rename")), `if err = os.RemoveAll(path); err != nil {
	return fmt.Errorf("failed to remove the folder of an interrupted snapshot: %w", err)
}
`),
	},
}
