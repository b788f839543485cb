// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PodsWithoutPause lets a runtime handler make the pods of runc without a pause container.
var PodsWithoutPause = edit.Patch{
	Slug:    "pods-without-pause",
	Module:  "containerd",
	Subject: "cri: make pods of runc without a pause container",
	Body: `A runtime handler of io.containerd.runc.v2 with sandboxer = "shim"
starts the shim of that name, which serves no Sandbox API. The
runtime_path of the handler is used for containers only. So a shim for
runc that makes sandboxes can only be tried by replacing the shim of all
pods.

Start the program in runtime_path for sandboxes as well. The record of
the sandbox keeps the type of the runtime.

A sandbox by such a shim has no process, unless one is needed: a PID
namespace ends with its first process, and namespaces that belong to a
user namespace are made by a process in it. Pods that have either are
made by the controller of pause containers, with the same program as
their shim.

Two things came from the controller of pause containers and are now
CRI's for pods without one: the default sysctls of the network, if they
are enabled, and the SELinux label whose level all containers of a pod
share.

A handler with another runtime type is affected only if it has both a
runtime_path and sandboxer = "shim". Its sandboxes are then made by that
program.`,
	Refs:   []string{"containerd/containerd#14106", "containerd/containerd#14135"},
	Rules:  []string{"L25"},
	Status: edit.Upstream,
	Until:  "a shim in containerd makes sandboxes for runc without a process",
	Needs:  []string{"containerd/sandbox-without-process"},
	Edits: []edit.Edit{
		runtimeOfPod.Replace(edit.Stmt(edit.Return("r", "nil")), "return r.forPod(podSandboxConfig), nil").Below("v2.4"),
		runtimeOfPod.Replace(edit.Stmt(edit.Return("r", "nil")), `of := r.forPod(podSandboxConfig)
if of.Sandboxer != r.Sandboxer {
	of.DisablePauseImagePull = false // this pod has a pause container
}
return of, nil`).Since("v2.4"),
		containerd.Run.After(edit.Stmt(edit.Assign("sandbox.Sandboxer")), `
hold, err := c.labelSandbox(ociRuntime, &sandbox)
if err != nil {
	return nil, err
}
defer hold()`),
		containerd.Run.Replace(edit.Expr("sandboxInfo").Within(edit.Call("c.sandboxService.CreateSandbox")), "forShim(sandboxInfo, ociRuntime)"),
		containerd.Run.Replace(edit.Expr("sb.WithOptions(config)"), "sb.WithOptions(c.withSysctls(config, ociRuntime))"),
		containerd.Run.Replace(edit.Expr(`labels["selinux_label"]`), `cmp.Or(labels["selinux_label"], sandbox.ProcessLabel)`),
		edit.AddImport(containerd.SandboxRun, "cmp"),
	},
}

var runtimeOfPod = edit.In(containerd.CRIConfig, edit.Method("Config", "GetSandboxRuntime"))
