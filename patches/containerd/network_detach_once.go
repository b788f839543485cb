// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkDetachOnce does not detach a pod again whose network is gone.
var NetworkDetachOnce = edit.Patch{
	Slug:    "network-detach-once",
	Module:  "containerd",
	Subject: "cri: run DEL once for a pod that is stopped and removed",
	Body: `The CNI plugins of each pod are run again when it is removed, and each time when it
is stopped again, as a kubelet does: about 25 ms for processes that find nothing.

Note that the DELs of all cached attachments of a pod succeeded, and run them again
only if the pod's network namespace is still there. After a restart of containerd
nothing is noted, and the DEL is run. So it is where nothing was cached, where a DEL
was given up, and with another implementation of go-cni's interface.`,
	Rules:  []string{"N3"},
	Status: edit.Upstream,
	Until:  "the DEL of a pod that was detached is not run again when it is removed",
	Needs:  []string{"containerd/network-detach"},
	Edits: []edit.Edit{
		storedStatus.AddField(`
// Detached says that the CNI DEL of the sandbox succeeded, since containerd was started.
Detached bool`),
		stop.Replace(edit.Expr("sandbox.NetNS != nil"), "sandbox.NetNS != nil && !detached(&sandbox)"),
		edit.In("internal/cri/server/pod_network_detach.go", edit.Method("criService", "detachPod")).
			Before(edit.Stmt(edit.Return("nil")), "noteDel(&sandbox, result)\n"),
	},
}
