// SPDX-License-Identifier: Apache-2.0

package nrifailures

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NRIFailures adds the pod's name to NRI's errors, and keeps their code.
var NRIFailures = edit.Patch{
	Slug:    "nri-failures",
	Module:  "containerd",
	Subject: "cri,nri: name the pod and keep the code in NRI's errors",
	Body: `A request that an NRI plugin rejects fails with code Unknown and without
the name of the pod, whatever code the plugin answered with. The events
of a pod do not show what happened, and no caller can distinguish a
rejection from a plugin that hangs.

NRI's errors name the plugin and have a code now. Add the names of pod
and container. Turn the code into a class of errdefs, which the CRI
service turns back into a code: FailedPrecondition or the plugin's own
code for a rejection, DeadlineExceeded for a plugin or a request that
timed out, Canceled for a caller that canceled.`,
	Refs:   []string{"containerd/nri#286", "containerd/nri#316"},
	Rules:  []string{"L16", "L17"},
	Status: edit.Upstream,
	Until:  "containerd's errors of NRI requests name pod and plugin and have the plugin's code",
	Needs:  []string{"nri/plugin-errors", "containerd/patched-nri"},
	Edits: []edit.Edit{
		containerd.Local("RunPodSandbox").Replace(edit.Stmt(edit.Return("err")), "return podFailure(pod, err)"),
		containerd.Local("UpdatePodSandbox").Replace(edit.Stmt(edit.Return("err")), "return podFailure(pod, err)"),
		containerd.Local("CreateContainer").Replace(edit.Stmt(edit.Return("nil", "err")), "return nil, containerFailure(pod, ctr, err)"),
		containerd.Local("StartContainer").Replace(edit.Stmt(edit.Return("err")), "return containerFailure(pod, ctr, err)"),
		containerd.Local("UpdateContainer").Replace(edit.Stmt(edit.Return("nil", "err")), "return nil, containerFailure(pod, ctr, err)"),
	},
}
