// SPDX-License-Identifier: Apache-2.0

package statusoutsidelock

import "github.com/hookline-nri/hookline/internal/edit"

// StatusOutsideLock runs STATUS without the lock of the configuration, and not for ever.
var StatusOutsideLock = edit.Patch{
	Slug:    "status-outside-lock",
	Module:  "go-cni",
	Subject: "status: run STATUS outside of the lock, with a deadline",
	Body: `Status runs STATUS of all networks under the lock of the configuration and
without a deadline. A plugin that hangs blocks whoever asks. A reload of the
configuration waits for the lock, and from then on every ADD and DEL waits
behind the reload: no pod starts or goes while one plugin hangs.

Take the networks under the lock, and ask them without it. STATUS runs once at
a time, for ten seconds at most, and who asks meanwhile gets its answer. Then
the plugin is killed. Where a child of it holds its output, libcni does not
return; that run is left behind, and the next who asks begins another. So does
a reload.

For a network that answers in time nothing changes. One whose STATUS takes
longer was ready after that time, and is not ready now.`,
	Refs:   []string{"containerd/containerd#11186", "containernetworking/cni#859"},
	Rules:  []string{"N1", "N4"},
	Status: edit.Upstream,
	Until:  "go-cni runs STATUS without the lock of the configuration and with a deadline",
	Edits: []edit.Edit{
		edit.In("cni.go", edit.Method("libcni", "Status")).Drop(),
		edit.In("cni.go", edit.Type("libcni")).AddField(`
statuses statuses`),
		edit.In("cni.go", edit.Method("libcni", "Load")).Before(edit.Stmt(edit.Call("c.reset")), `c.statuses.forget()
`),
	},
}
