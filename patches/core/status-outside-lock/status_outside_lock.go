// SPDX-License-Identifier: Apache-2.0

package statusoutsidelock

import "github.com/hookline-nri/hookline/internal/edit"

// StatusOutsideLock runs STATUS without the lock of the configuration, and with a deadline.
var StatusOutsideLock = edit.Patch{
	Slug:    "status-outside-lock",
	Module:  "go-cni",
	Subject: "status: run STATUS outside of the lock, with a deadline",
	Body: `Status runs STATUS of all networks under the lock of the configuration and
without a deadline. A plugin that hangs blocks every caller of Status. A reload
of the configuration waits for the lock, and from then on every ADD and DEL
waits for the reload: no pod starts or ends while one plugin hangs.

Copy the networks under the lock, and run STATUS without it. Only one STATUS
runs at a time, for ten seconds at most, and callers that come meanwhile get its
result. Then the plugin is killed. If a child of the plugin holds its output,
libcni does not return. That run is abandoned, and the next caller begins
another one. A reload abandons the run, too.

For a network that answers in time nothing changes. A network whose STATUS takes
longer used to become ready after that time. Now it is not ready.`,
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
