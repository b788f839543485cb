// SPDX-License-Identifier: Apache-2.0

package cnipluginprocesses

import (
	"github.com/hookline-nri/hookline/internal/edit"
	gocni "github.com/hookline-nri/hookline/patches/places/go-cni"
)

// PluginProcesses brings a way to run CNI plugins that ends what they started.
var PluginProcesses = edit.Patch{
	Slug:    "plugin-processes",
	Module:  "go-cni",
	Subject: "cniexec: end all processes of a plugin that is canceled",
	Body: `When the context of a CNI request ends, libcni kills the plugin's own process
and then waits for its output, and so for every process that the plugin started
and that holds it. An IPAM plugin goes on, and may allocate an address after the
DEL of the pod that gave up. A caller that has a deadline does not return.

Add cniexec, which implements libcni's interface for running plugins. A plugin
has a process group of its own, which is killed as a whole and waited for for a
bounded time; its output is bounded; and an error says whether the plugin
answered it. Requests are spans where their caller has one (cnispan).

On systems other than Linux the plugin's own process is killed, as before.

go-cni itself does not use cniexec: ctr, nerdctl and others run plugins as
before. A plugin that cniexec runs leads a process group: setsid(2) fails in
it, and setsid(1) forks. What it leaves in the background goes on and may
write. A result over 16 MiB is an error, libcni has no bound. A plugin that
exits before what it left has written the result has 500 ms for it.`,
	Refs:   []string{"containerd/containerd#12130"},
	Rules:  []string{"L7", "N4"},
	Status: edit.Upstream,
	Large:  "how a plugin is started, read and ended is one state: without one of these a process is left, or waited for without end",
	Until:  "libcni ends the process group of a request whose context ended",
	Edits: []edit.Edit{
		edit.GoMod("go.mod",
			edit.Language("1.25.0"),
			edit.Require("golang.org/x/sys", "v0.23.0"),
			edit.Require("github.com/containernetworking/cni", "v1.3.1"), // knows that a plugin is not available
		),
		edit.GoSum("go.sum",
			"github.com/containernetworking/cni v1.3.1 h1:gnHlU/YC1bJcS+CSh+pYQKeuu4O4gsMGW1NMaLhkzW4=",
			"github.com/containernetworking/cni v1.3.1/go.mod h1:OtVXL0yXMfQb+p93OC/vRuhjpxsO1gAV0smjt28UQUQ=",
			"github.com/google/go-cmp v0.7.0 h1:wk8382ETsv4JYUZwIsn6YpYiWiBsYLSJiTsyBybVuN8=",
			"github.com/google/go-cmp v0.7.0/go.mod h1:pXiqmnSA92OHEEa9HXL2W4E7lf9JzCmGVUdgjX3N/iU=",
		),
	},
	Packages: []edit.Package{gocni.Part("cnispan"), gocni.Part("cniexec")},
}
