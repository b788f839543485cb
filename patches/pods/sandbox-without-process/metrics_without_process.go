// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// MetricsWithoutProcess lets statistics ask no shim that has no task of the pod.
var MetricsWithoutProcess = edit.Patch{
	Slug:    "metrics-without-process",
	Module:  "containerd",
	Subject: "cri: read the metrics of a sandbox that has no process",
	Body: `CRI collects the processor time of all sandboxes once a second, by
default, one after the other. For one with a pause container it reads
the pod's cgroup. It asks the shim of any other sandbox, and waits for
it without a limit. So a shim that hangs ends the statistics of the
node, and a shim that has nothing else to do answers once a second.

CRI knows the cgroup of a sandbox without a process: read it there, too.
Before there is a cgroup the metrics are empty, as the first container
makes it, unless the kubelet did.

The statistics of a pod include those of its containers. If it has none,
CRI's request for them has no filter, and asks the shims of all tasks in
CRI's namespace. Ask none.

containerd 2.3 reads the cgroup of any sandbox by itself. There only the
last part has an effect.`,
	Refs:   []string{"containerd/containerd#14135"},
	Rules:  []string{"L22", "L25"},
	Status: edit.Upstream,
	Until:  "CRI reads the metrics of a sandbox with pid 0 from the pod's cgroup",
	Needs:  []string{"containerd/sandbox-without-process"},
	Edits: []edit.Edit{
		containerd.CRIMethod("internal/cri/server/container_stats_list.go", "listContainerStats").
			Before(edit.Stmt(edit.Define("resp")), "if in.GetFilter() != nil && len(containers) == 0 {\n\treturn nil, nil\n}\n"),
	},
	Packages: []edit.Package{{From: "internal/cri/podcgroup", To: "internal/cri/podcgroup"}},
}
