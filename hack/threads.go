// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/hookline-nri/hookline/hack/docs"

// threads are upstream changes that meet patches of the series and may come with later releases.
// Remove a thread when it was closed, or when the series has moved to a release that has it. If the
// change itself could be seen, its effect on patches was tried, with bump on a clone that has it.
var threads = []docs.Thread{
	{
		Name:    "containerd/nri#281",
		Title:   "A plugin that connects under the index and name of a connected one receives the events in its place.",
		Seen:    "its head of March 2026",
		Patches: []string{"nri/adaptation-engine", "nri/hand-over", "containerd/hand-over"},
		Then: "`nri/adaptation-engine` misfits, but only at an import of `time`. It drops the loops over plugins, and with them the lines that " +
			"skip the older connection. `nri/hand-over` stays: it synchronizes the successor with the pods that the older connection knows before any event goes to it. " +
			"The two differ at the end. #281 keeps the older connection, which receives events again when the newer one closes. " +
			"`nri/hand-over` closes it. Upstream decides that, and both patches `hand-over` have to follow.",
	},
	{
		Name:    "containerd/nri#282",
		Title:   "The specification of a CDI device requires plugins, by an edit of its container's annotations.",
		Seen:    "its comments of April 2026; not the change, which needs one of CDI first",
		Patches: []string{"nri/required-by-request", "containerd/device-plugins", "containerd/pod-resources-devices"},
		Then: "The key and the form of the annotation are the same. " +
			"With such edits the annotation of a container requires plugins, and the default validator reads it: `containerd/device-plugins` makes way for it. " +
			"`nri/required-by-request` and `containerd/pod-resources-devices` stay: a pod is created before its containers have edits.",
	},
	{
		Name:    "containerd/nri#295",
		Title:   "RunPodSandbox returns addresses that plugins give the pod.",
		Seen:    "its head of May 2026, without containerd's part",
		Patches: []string{"nri/rejected-pod-ends", "nri/adaptation-engine", "containerd/hook-last"},
		Then: "`nri/rejected-pod-ends` misfits: the loop of RunPodSandbox has another shape and returns two values. " +
			"`nri/adaptation-engine` drops that loop, and the addresses with it: its own RunPodSandbox has to collect and return them. " +
			"With `containerd/hook-last` they come in the last step of a creation, and must be in the pod's record before the pod is Ready.",
	},
	{
		Name:    "containerd/nri#304",
		Title:   "A plugin requests a request timeout of its own when it is configured.",
		Seen:    "its head of August 2026",
		Patches: []string{"nri/adaptation-engine", "nri/required-plugins", "containerd/nri-plugin-settings"},
		Then: "All patches apply, once the new field has another number: v0.12.5 uses 3 of ConfigureResponse for the failure policy. " +
			"`nri/required-plugins` does not compile then, since #304's field has the name of its method, requestTimeout. " +
			"There the plugin's timeout becomes the default, below the operator's setting. " +
			"`nri/adaptation-engine` drops the relays that #304 changes, and stays as it is. " +
			"The ceiling of `containerd/nri-plugin-settings` must apply to the plugin's timeout, too. " +
			"A maintainer proposed to take timeouts from the caller's deadline instead: the engine sends each plugin its share of that already, beside its deadline.",
	},
	{
		Name:    "containerd/containerd#12132",
		Title:   "A pod is kept as long as the DEL after its failed ADD fails.",
		Seen:    "its head of February 2026, which conflicts with main since",
		Patches: []string{"containerd/undo-in-order", "containerd/network-detach"},
		Then: "`containerd/network-detach` misfits at a condition of StopPodSandbox that #12132 drops. The patch no longer needs its additions to that condition, there and in the roll-back. " +
			"The rest stays: with only #12132 a pod is never removed if its ADD failed and its network was replaced or removed later. " +
			"`containerd/undo-in-order` fits and replaces all of #12132's roll-back. " +
			"That one runs no DEL if no network was loaded: move this to undoNetwork by hand.",
	},
	{
		Name:    "containerd/containerd#13877",
		Title:   "A shim has a time limit for the metrics of a task.",
		Seen:    "its description of July 2026; not the change",
		Patches: []string{"containerd/metrics-past-hung-shims"},
		Then:    "`containerd/metrics-past-hung-shims` makes way for it.",
	},
	{
		Name:    "containerd/containerd#14106",
		Title:   "The plan for pods without a pause container, made by a shim for runc; experimental and off by default.",
		Seen:    "its text of September 2026",
		Patches: []string{"containerd/network-beside-pause", "containerd/recover-the-rest", "containerd/stopped-task", "containerd/pods-without-pause"},
		Then: "Nothing while it is off. `containerd/pods-without-pause` makes the same pods by a handler of its own until then. The plan ends with the removal of the controller of pause containers. " +
			"Then `containerd/network-beside-pause` drops out, and the other two lose their edits in that controller.",
	},
	{
		Name:    "containerd/containerd#14123",
		Title:   "Containers join the namespaces of a pod by path if the sandbox gives paths, and fail if it has neither paths nor a process.",
		Seen:    "its description of September 2026; not the change",
		Patches: []string{"containerd/sandbox-without-process", "containerd/pods-being-created", "containerd/sandbox-phase", "containerd/pod-resources", "containerd/pod-resources-check"},
		Then: "`containerd/sandbox-without-process` makes way for it: its part about namespaces drops out, and its part about shared files stays unless #14123 has one. " +
			"The others edit CreateContainer, which passes on the pid of the sandbox. They edit neither the pid nor a namespace, " +
			"so at most they have to be rebased.",
	},
	{
		Name:    "containerd/containerd#14135",
		Title:   "A first shim for runc that serves the Sandbox API and holds the namespaces of a pod, which has pid 0.",
		Seen:    "its description of September 2026; not the change",
		Patches: []string{"containerd/pinned-namespaces", "containerd/sandbox-service", "containerd/sandboxed-shim", "containerd/pods-without-pause", "containerd/network-beside-pause", "containerd/shim-gone", "containerd/sandbox-without-spec", "containerd/shim-events", "containerd/shim-delete-cgroup", "containerd/shim-delete-command"},
		Then: "It takes the place of the first three patches; the cases of L25 say whether it can. `containerd/pods-without-pause` stays for what it does in CRI: pods that need a process, default sysctls and labels. " +
			"`containerd/network-beside-pause` runs the ADD beside CreateSandbox: test that the new shim looks at the network in StartSandbox only. " +
			"`containerd/shim-gone` is about the controller of shims, which such pods use: it is needed more. " +
			"CRI reads the namespaces from the spec of the sandbox. With `containerd/sandbox-without-spec` that is nil for a sandbox without one: test this. " +
			"The new shim shares packages with the present one and changes them: `containerd/shim-events` and `containerd/shim-delete-cgroup` may have to be rebased, " +
			"and their parts in the present binary are needed in the new one. The new shim has the runtime type for which `containerd/shim-delete-command` leaves out the delete command: " +
			"test that its shutdown leaves nothing behind.",
	},
}
