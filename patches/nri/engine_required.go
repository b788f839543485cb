// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// EngineRequired brings the engine with creations that need the answers of plugins.
var EngineRequired = edit.Patch{
	Slug:    "engine-required",
	Module:  "nri",
	Subject: "lifecycle: hold creations back for plugins that they require",
	Body: `A pod or container is created by the plugins that are connected at that moment.
Whether one is missing without which it is of no use, the engine does not know.

Let the runtime say of a first event which plugins have to answer it, by name.
Before anyone is asked the creation waits for those that are away, as long as is
set for each, and it is not sealed before each has answered: that a plugin is
connected, or was passed over by its policy, does not count. An error says which
plugin has not answered, and since when it is away. A runtime can have it wait
before it makes anything (Await).

Let a connection have timeouts of its own. Nothing is required and no timeout
is set by this.`,
	Refs:     []string{"containerd/nri#45", "containerd/nri#142", "containerd/nri#152", "containerd/nri#287", "containerd/nri#304", "containerd/nri#316"},
	Rules:    []string{"L16", "L20"},
	Status:   edit.Upstream,
	Until:    "NRI lets runtimes require the answer of a plugin to RunPodSandbox and CreateContainer, and give it timeouts of its own",
	Needs:    []string{"nri/waits"},
	Untested: "its tests need pgregory.net/rapid, which NRI does not require; those of nri/required-plugins, behind it, drive it",
	Large:    "a creation that is refused for one of its plugins, and a wait for one, are two ends of one state: neither is of use alone",
	Packages: []edit.Package{engineAt("engine-required")},
	Edits:    cutsAt("engine-required"),
}
