// SPDX-License-Identifier: Apache-2.0

package patches

import "github.com/hookline-nri/hookline/internal/edit"

// groups are the pull requests that the series is meant for, in the order in which to
// open them. What each says is docs/pulls/NAME.md.
var groups = []edit.Group{
	// The core. Each is one patch, and helps by itself.
	{Name: "teardown-reaches-all", Title: "adaptation: deliver teardown to every plugin", Core: true, Patches: []string{"nri/teardown-reaches-all"}},
	{Name: "refused-pod-ends", Title: "adaptation: end a refused pod only for plugins that know it", Core: true, Patches: []string{"nri/refused-pod-ends"}},
	{Name: "updates-of-a-stop", Title: "nri: apply the updates of a stop that a plugin failed", Core: true, Patches: []string{"containerd/updates-of-a-stop"}},
	{Name: "remove-locks-once", Title: "cri,nri: block plugin sync once in RemovePodSandbox", Core: true, Patches: []string{"containerd/remove-locks-once"}},
	{Name: "undo-refused-pod", Title: "cri,nri: roll back a failed RunPodSandbox under its own context", Core: true, Patches: []string{"containerd/undo-refused-pod"}},
	{Name: "stop-before-reclaim", Title: "cri,nri: send StopPodSandbox before anything is released", Core: true, Patches: []string{"containerd/stop-before-reclaim"}},
	{Name: "ends-after-restart", Title: "nri: send the end of pods from before a restart", Core: true, Patches: []string{"containerd/ends-after-restart"}},
	{Name: "wait-before-hook", Title: "cri,nri: watch a sandbox before its RunPodSandbox hook", Core: true, Patches: []string{"containerd/wait-before-hook"}},
	{Name: "creations-listed", Title: "cri,nri: list pods being created in Synchronize", Core: true, Patches: []string{"containerd/creations-listed"}},
	{Name: "status-outside-lock", Title: "status: run STATUS outside of the lock, with a deadline", Core: true, Patches: []string{"go-cni/status-outside-lock"}},

	// Small too, and next to the core: which record goes before which end is told.
	{Name: "records-last", Title: "cri,nri: delete records last", Patches: []string{
		"containerd/record-before-list",
		"containerd/end-before-record",
	}},

	// What is promised.
	{Name: "sandbox-contract", Title: "docs: say what plugins can rely on in the life of a pod sandbox", Patches: []string{
		"nri/sandbox-contract",
	}},

	// go-cni.
	{Name: "cni-plugin-processes", Title: "cniexec: end all processes of a plugin that is canceled", Patches: []string{
		"go-cni/plugin-processes",
	}},
	{Name: "cni-status-monitor", Title: "netstatus: run STATUS in the background", Patches: []string{
		"go-cni/network-states",
		"go-cni/network-monitor",
	}},

	// NRI.
	{Name: "nri-sync-split", Title: "adaptation: synchronize plugins with any number of pods", Patches: []string{
		"nri/sync-split",
	}},
	{Name: "nri-builtin-configure", Title: "builtin: return the error of a Configure handler", Patches: []string{
		"nri/builtin-configure",
	}},
	{Name: "nri-register-bounds", Title: "adaptation: bound the name that a plugin registers with", Patches: []string{
		"nri/register-bounds",
	}},
	{Name: "nri-engine", Title: "adaptation: deliver events to each plugin in its own turn", Patches: []string{
		"nri/engine-ledger",
		"nri/engine-away",
		"nri/lifecycle-engine",
		"nri/adaptation-engine",
		"nri/old-relays",
		"nri/unread-peers",
		"nri/delivery-metrics",
		"nri/sync-block",
	}},
	{Name: "nri-pod-state", Title: "adaptation: read the state of a pod when plugins synchronize", Patches: []string{
		"nri/proto-pod-state",
		"nri/pod-state",
	}},
	{Name: "nri-errors", Title: "adaptation: say which plugin failed or is waited for", Patches: []string{
		"nri/plugin-errors",
		"nri/waits",
	}},
	{Name: "nri-required", Title: "adaptation: require plugins by name", Patches: []string{
		"nri/required-plugins",
	}},
	{Name: "nri-names", Title: "adaptation: let runtimes reserve the names of plugins", Patches: []string{
		"nri/who-connects",
		"nri/plugin-peer",
		"nri/registration-log",
	}},
	{Name: "nri-owed-ends", Title: "adaptation: tell plugins what ended while they were away", Patches: []string{
		"nri/owed-ends",
		"nri/creation-journal",
	}},
	{Name: "nri-hand-over", Title: "adaptation: let a plugin that registers again take over", Patches: []string{
		"nri/hand-over",
	}},

	// containerd, with NRI as released.
	{Name: "undo", Title: "cri,nri: leave nothing behind of a pod that failed", Patches: []string{
		"containerd/undo-in-order",
		"containerd/start-under-lease",
	}},
	{Name: "shims", Title: "runtime: do not leak shims that are interrupted", Patches: []string{
		"containerd/shim-start",
		"containerd/task-create",
		"containerd/task-delete",
	}},
	{Name: "shim-events", Title: "shim: publish events before the process ends", Patches: []string{
		"containerd/shim-events",
	}},
	{Name: "shim-delete-command", Title: "runtime: run the delete command of runc's shim only if the shim was lost", Patches: []string{
		"containerd/shim-delete-command",
	}},
	{Name: "shim-delete-cgroup", Title: "shim: remove the cgroup of a container whose creation was cut", Patches: []string{
		"containerd/shim-delete-cgroup",
	}},
	{Name: "stopped-task", Title: "cri: do not kill a task that has exited", Patches: []string{
		"containerd/stopped-task",
	}},
	{Name: "idle-shim", Title: "runtime: take a gRPC shim for gone only when it is", Patches: []string{
		"containerd/idle-shim",
	}},
	{Name: "shim-gone", Title: "sandbox: stop and shut down a sandbox whose shim is gone", Patches: []string{
		"containerd/shim-gone",
	}},
	{Name: "sandbox-without-spec", Title: "metadata: read a sandbox without a spec as one without", Patches: []string{
		"containerd/sandbox-without-spec",
	}},
	{Name: "creation", Title: "cri,nri: make the hook the last step of RunPodSandbox", Patches: []string{
		"containerd/pods-being-created",
		"containerd/hook-last",
		"containerd/hidden-until-ready",
	}},
	{Name: "hung-shims", Title: "cri: list and answer past shims that hang", Patches: []string{
		"containerd/list-past-hung-shims",
		"containerd/status-during-update",
	}},
	{Name: "containers-stop-first", Title: "cri,nri: send StopContainer before StopPodSandbox", Patches: []string{
		"containerd/containers-stop-first",
	}},
	{Name: "recovery", Title: "cri: start whatever the records hold", Patches: []string{
		"containerd/unreadable-records",
		"containerd/recover-the-rest",
	}},
	{Name: "sandbox-phase", Title: "cri: recognize sandboxes whose creation a restart interrupted", Patches: []string{
		"containerd/sandbox-phase",
		"containerd/start-against-stop",
	}},
	{Name: "events", Title: "cri: send events of an end once, and after it", Patches: []string{
		"containerd/events-after-the-fact",
	}},
	{Name: "creation-metrics", Title: "cri: count pods being created, and what becomes of them", Patches: []string{
		"containerd/creation-metrics",
	}},

	// containerd, on the NRI above.
	{Name: "nri-without-lock", Title: "nri: leave the order and state of events to the adaptation", Patches: []string{
		"containerd/nri-without-lock",
	}},
	{Name: "pod-state", Title: "cri,nri: tell plugins the state of a pod", Patches: []string{
		"containerd/pod-state",
	}},
	{Name: "plugin-series", Title: "nri: bound the series of metrics by the names of plugins", Patches: []string{
		"containerd/plugin-series",
	}},
	{Name: "nri-settings", Title: "nri: add settings and metrics for the delivery of events", Patches: []string{
		"containerd/nri-settings",
	}},
	{Name: "nri-failures", Title: "cri,nri: name the pod and keep the code in NRI's errors", Patches: []string{
		"containerd/nri-failures",
	}},
	{Name: "nri-status", Title: "cri,nri: show plugins and pods being created in status", Patches: []string{
		"containerd/nri-status",
	}},
	{Name: "pod-spans", Title: "cri,nri: add spans for the steps of pods and for NRI plugins", Patches: []string{
		"containerd/pod-spans",
	}},
	{Name: "nri-plugin-settings", Title: "cri,nri: let settings require plugins and set their timeouts", Patches: []string{
		"containerd/nri-plugin-settings",
	}},
	{Name: "await-plugins", Title: "cri,nri: wait for required plugins before anything is made", Patches: []string{
		"containerd/await-plugins",
	}},
	{Name: "nri-plugin-names", Title: "cri,nri: let settings say who may register under a name", Patches: []string{
		"containerd/nri-plugin-names",
	}},
	{Name: "owed-ends", Title: "cri,nri: keep the ends that plugins have missed", Patches: []string{
		"containerd/owed-store",
		"containerd/owed-ends",
		"containerd/creation-journal",
	}},
	{Name: "hand-over", Title: "nri: let settings have two plugins of one name", Patches: []string{
		"containerd/hand-over",
	}},

	// containerd, on the go-cni above.
	{Name: "network-status", Title: "cri: run CNI STATUS in the background", Patches: []string{
		"containerd/network-attachments",
		"containerd/network-packages",
		"containerd/network-status",
		"containerd/network-attach",
	}},
	{Name: "network-detach", Title: "cri: detach pods with libcni's cached attachments", Patches: []string{
		"containerd/network-detach",
		"containerd/network-detach-once",
	}},
	{Name: "internal-loopback", Title: "cri: bring up the loopback interface of pods without a plugin", Patches: []string{
		"containerd/internal-loopback",
	}},
	{Name: "network-beside-pause", Title: "cri: attach a pod's network while its pause container is created", Patches: []string{
		"containerd/network-beside-pause",
	}},
	{Name: "network-gc", Title: "cri: add a setting to run CNI GC at start", Patches: []string{
		"containerd/network-gc",
	}},
	{Name: "plugin-gates-network", Title: "cri,nri: let NetworkReady say that a required plugin is away", Patches: []string{
		"containerd/plugin-gates-network",
	}},

	// waiting for KEP-4112.
	{Name: "pod-resources", Title: "cri,nri: pass on the resources of containers with their pod", Patches: []string{
		"containerd/pod-resources-fields",
		"containerd/pod-resources-decode",
		"containerd/pod-resources-announcement",
		"containerd/pod-resources",
		"containerd/pod-resources-check",
	}},
}
