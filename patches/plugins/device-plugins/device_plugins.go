// SPDX-License-Identifier: Apache-2.0

package deviceplugins

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// DevicePlugins lets the specifications of CDI devices require plugins.
var DevicePlugins = edit.Patch{
	Slug:    "device-plugins",
	Module:  "containerd",
	Subject: "nri: let CDI devices require plugins",
	Body: `A DRA driver that sets up devices as an NRI plugin cannot keep a container
from starting while the plugin is disconnected. The operator would have to
require it for all pods, and most of them have no such device.

The kubelet names the CDI devices of each container, and a driver writes
their specifications. Add a setting with which a specification may require
plugins, by the annotation that a pod may have: for all devices of its file,
or for one. A container with such a device waits for the plugin. It does not
start without the answer, or without the connection of a plugin that did not
subscribe to CreateContainer.

The devices are those that are injected: those of the client, and not of an
annotation of the pod that a runtime handler passes on. The specifications
are read from the disk again, since the cache for the injection follows it
with a delay.`,
	Refs:   []string{"containerd/nri#282", "containerd/nri#316"},
	Rules:  []string{"L29"},
	Status: edit.Upstream,
	Until:  "containerd lets the specifications of CDI devices require NRI plugins",
	Needs:  []string{"nri/required-by-request", "containerd/nri-plugin-settings", "containerd/await-plugins"},
	Edits: []edit.Edit{
		edit.In(containerd.NRIConfig, edit.Type("Config")).After(edit.Field("Plugins"), `
// CDIRequiredPlugins is whether the specification of a CDI device may require plugins for the containers with
// this device, by the annotation required-plugins.noderesource.dev.
CDIRequiredPlugins bool `+"`toml:\"cdi_required_plugins\" json:\"cdiRequiredPlugins\"`"),
		containerd.NRIPod.AddField("\n\nrequiresPlugins"),
		edit.In("internal/nri/container.go", edit.Type("Container")).AddField("\n\nrequiresPlugins"),
		containerd.Local("RunPodSandbox").Before(edit.Stmt(edit.Define("err")), `ctx, rejected := l.withRequired(ctx, pod)
if rejected != nil {
	return podFailure(pod, rejected)
}

`),
		edit.In("internal/nri/await_plugins.go", edit.Method("local", "AwaitPlugins")).Before(edit.Stmt(edit.Define("ctx")), `ctx, rejected := l.withRequired(ctx, pod)
if rejected != nil {
	return ctx, podFailure(pod, rejected)
}
`),
		containerd.Local("CreateContainer").Before(edit.Stmt(edit.Define("response")), `ctx, rejected := l.withRequired(ctx, ctr)
if rejected != nil {
	return nil, containerFailure(pod, ctr, rejected)
}

`),
		edit.In(containerd.PluginConfig, edit.Method("Config", "requiresPlugins")).Before(edit.Top(), `if c.CDIRequiredPlugins {
	return true
}
`),
		containerd.NRIGuide("Requiring Plugins", "The annotations and the toleration of the default validator").After(`
A driver can require its own plugin for the containers that have its devices, which need no list. It writes the
annotation into a specification of CDI devices, for all devices of the file or for one:

` + "```yaml" + `
cdiVersion: "0.6.0"
kind: vendor.example/nic
annotations:
  required-plugins.noderesource.dev: "[ nic-driver ]"
devices:
- name: nic-0
  containerEdits:
    env: [NIC=nic-0]
` + "```" + `

This needs a setting, which is off by default:

` + "```toml" + `
  [plugins."io.containerd.nri.v1.nri"]
    cdi_required_plugins = true
` + "```" + `

A plugin that did not subscribe to CreateContainer must only be connected. The settings of the plugin's name hold, but for those
that require it: how long a container waits, its exempt namespaces, and whether a pod may tolerate that it is missing.
`),
	},
}
