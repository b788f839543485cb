// SPDX-License-Identifier: Apache-2.0

package gocni

import "github.com/hookline-nri/hookline/internal/edit"

// StatusOutsideLock runs STATUS without the lock of the configuration, and not for ever.
var StatusOutsideLock = edit.Patch{
	Slug:    "status-outside-lock",
	Module:  "go-cni",
	Subject: "status: run STATUS outside of the lock, with a deadline",
	Body: `Status runs STATUS of all networks under the lock of the configuration and
without a deadline. A plugin that hangs blocks whoever asks. A reload of the
configuration waits for the lock, and from then on every ADD and DEL waits
behind the reload: no pod comes up or goes while one plugin hangs.

Take the networks under the lock, and ask them without it. Whoever asks waits
five seconds at most; the plugin is killed then. STATUS runs once at a time:
who asks meanwhile gets the answer of the run that goes on, since one that is
left behind by a plugin whose child holds its output does not end. A reload
begins anew.

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
