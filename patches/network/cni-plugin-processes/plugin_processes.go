// SPDX-License-Identifier: Apache-2.0

package cnipluginprocesses

import (
	"github.com/hookline-nri/hookline/internal/edit"
	gocni "github.com/hookline-nri/hookline/patches/places/go-cni"
)

// PluginProcesses adds a way to run CNI plugins that ends all processes that they started.
var PluginProcesses = edit.Patch{
	Slug:    "plugin-processes",
	Module:  "go-cni",
	Subject: "cniexec: end all processes of a plugin that is canceled",
	Body: `An IPAM plugin may allocate an address for a pod after the DEL of that
pod, and the address leaks. When the context of a CNI request ends,
libcni kills only the plugin's own process; processes that the plugin
started go on. libcni then waits for the plugin's output, and so for
every process that holds it open. A caller with a deadline does not
return.

Add cniexec, which implements libcni's interface for running plugins. A
plugin has a process group of its own, which is killed as a whole. The
wait for its end and the size of its output are bounded. An error says
whether the plugin answered with it. Requests are spans if their caller
has a span (cnispan).

On systems other than Linux only the plugin's own process is killed, as
before.

go-cni itself does not use cniexec: ctr, nerdctl and others run plugins
as before. A plugin that cniexec runs leads a process group: setsid(2)
fails in it, and setsid(1) forks. Processes that it leaves in the
background go on and may write. A result over 16 MiB is an error; libcni
has no bound. If a plugin exits before a process that it left has
written the result, that process has 500 ms to do so.`,
	Refs:   []string{"containerd/containerd#12130"},
	Rules:  []string{"L7", "N4"},
	Status: edit.Upstream,
	Large:  "the start, the output and the end of a plugin share one state: without one of them a process is left, or waited for without end",
	Until:  "libcni ends the process group of a request whose context ended",
	Edits: []edit.Edit{
		edit.GoMod("go.mod",
			edit.Language("1.25.0"),
			edit.Require("golang.org/x/sys", "v0.23.0"),
			edit.Require("github.com/containernetworking/cni", "v1.3.1"), // it can report that a plugin is not available
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
