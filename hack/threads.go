// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/hookline-nri/hookline/hack/docs"

// threads are the changes upstream that later releases may bring and that meet patches of
// the series. Remove one when the series has moved to a release that has it, or when it
// was closed. What becomes of a patch was tried, where the change itself could be seen:
// bump on a clone that has it.
var threads = []docs.Thread{
	{
		Name:    "containerd/nri#281",
		Title:   "A plugin that connects under the index and name of a connected one gets the events in its place.",
		Seen:    "its head of March 2026",
		Patches: []string{"nri/adaptation-engine", "nri/hand-over", "containerd/hand-over"},
		Then: "`nri/adaptation-engine` misfits, by an import of `time` alone. It drops the loops over plugins, and with them the lines that " +
			"skip the older connection. `nri/hand-over` stays: its successor gets what the older connection knows before any event goes to it. " +
			"The two differ at the end: #281 keeps the older connection, which gets events again when the newer one closes, " +
			"and `nri/hand-over` closes it. Upstream decides that, and both patches `hand-over` have to follow.",
	},
	{
		Name:    "containerd/nri#295",
		Title:   "RunPodSandbox returns addresses that plugins give the pod.",
		Seen:    "its head of May 2026, without containerd's part",
		Patches: []string{"nri/rejected-pod-ends", "nri/adaptation-engine", "containerd/hook-last"},
		Then: "`nri/rejected-pod-ends` misfits: the loop of RunPodSandbox has another shape and returns two values. " +
			"`nri/adaptation-engine` drops that loop, and the addresses with it: its own RunPodSandbox has to collect and return them. " +
			"With `containerd/hook-last` they come in the last step of a creation, and have to be in the pod's record before the pod is Ready.",
	},
	{
		Name:    "containerd/nri#304",
		Title:   "A plugin asks for a request timeout of its own when it is configured.",
		Seen:    "its head of August 2026",
		Patches: []string{"nri/adaptation-engine", "nri/required-plugins", "containerd/nri-plugin-settings"},
		Then: "All fit by place, once its new field has another number: v0.12.5 gave 3 of ConfigureResponse to the failure policy. " +
			"`nri/required-plugins` does not compile then, since #304's field has the name of its method, requestTimeout. " +
			"The timeout that the plugin asks for becomes the default there, below the operator's setting. " +
			"`nri/adaptation-engine` drops the relays that #304 changes, and stays as it is. " +
			"The ceiling of `containerd/nri-plugin-settings` has to hold for what a plugin asks for, too. " +
			"A maintainer proposed to take timeouts from the caller's deadline instead: then the engine has to share it among the plugins.",
	},
	{
		Name:    "containerd/containerd#12132",
		Title:   "A pod is kept for as long as the DEL after its failed ADD fails.",
		Seen:    "its head of February 2026, which conflicts with main since",
		Patches: []string{"containerd/undo-in-order", "containerd/network-detach"},
		Then: "`containerd/network-detach` misfits at a condition of StopPodSandbox that #12132 drops. The patch gets smaller by what it adds to it, there and in the roll-back. " +
			"The rest stays: with #12132 alone a pod is never removed if its ADD failed and its network was replaced or removed since. " +
			"`containerd/undo-in-order` fits and replaces all of #12132's roll-back, " +
			"which runs no DEL where no network was loaded: move that to undoNetwork by hand.",
	},
	{
		Name:    "containerd/containerd#14106",
		Title:   "The plan for pods without a pause container, made by a shim for runc; experimental and off by default.",
		Seen:    "its text of September 2026",
		Patches: []string{"containerd/network-beside-pause", "containerd/recover-the-rest", "containerd/stopped-task"},
		Then: "Nothing while it is off. The plan ends with the removal of the controller of pause containers. " +
			"Then `containerd/network-beside-pause` drops out, and the other two lose what they edit in that controller.",
	},
	{
		Name:    "containerd/containerd#14123",
		Title:   "Containers join the namespaces of a pod by path where the sandbox gives some, and fail where there is neither path nor process.",
		Seen:    "its description of September 2026; not the change",
		Patches: []string{"containerd/pods-being-created", "containerd/sandbox-phase", "containerd/pod-resources", "containerd/pod-resources-check"},
		Then: "These edit CreateContainer, which passes the pid of the sandbox on. None of them edits the pid or a namespace, " +
			"so at most they have to be rebased. No patch edits `internal/cri/opts`, where the review shows the change.",
	},
	{
		Name:    "containerd/containerd#14135",
		Title:   "A first shim for runc that serves the Sandbox API and holds the namespaces of a pod, which has pid 0.",
		Seen:    "its description of September 2026; not the change",
		Patches: []string{"containerd/network-beside-pause", "containerd/shim-gone", "containerd/sandbox-without-spec", "containerd/shim-events", "containerd/shim-delete-cgroup", "containerd/shim-delete-command"},
		Then: "`containerd/network-beside-pause` runs the ADD first for such pods: it asks for the controller of pause containers. " +
			"`containerd/shim-gone` is about the controller of shims, which such pods use, and is needed more. " +
			"CRI reads the namespaces from the spec of the sandbox. With `containerd/sandbox-without-spec` that is nil for a sandbox without one: test this. " +
			"The new shim shares packages with the present one and changes them: `containerd/shim-events` and `containerd/shim-delete-cgroup` may have to be rebased, " +
			"and their parts in the present binary are needed in the new one. It has the runtime type for which `containerd/shim-delete-command` leaves the delete command out: " +
			"test that its shutdown leaves nothing behind.",
	},
}
