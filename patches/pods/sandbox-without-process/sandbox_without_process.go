// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutprocess

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// SandboxWithoutProcess gives containers the namespaces and files of a sandbox without a process.
var SandboxWithoutProcess = edit.Patch{
	Slug:    "sandbox-without-process",
	Module:  "containerd",
	Subject: "cri: join the namespaces of a sandbox that has no process",
	Body: `A shim that serves the Sandbox API can hold the namespaces of a pod by
mounts. Then no process is needed, and its answer to StartSandbox has
the pid 0. Containers join /proc/0/ns/net and the like, which do not
exist. The files that the containers of a pod share are only looked up
where containerd makes them, so such a pod has no /etc/hosts.

Take both from the specification with which the shim answers. If the pid
is 0, the namespaces are those with a path there. Where one is missing,
the pod's mode says whether a container is in the node's or has its own,
as it does where containers join a process. With any other mode it is an
error. A file is the source of the mount with its destination.

The status of such a sandbox is known to CRI, which watches its exit. So
CRI asks the shim for a verbose status only. A shim that does not answer
would delay the kubelet, which asks for the status of each changed pod.

It concerns shims that make sandboxes (sandboxer = "shim") and answer
with a specification that has a section for Linux. Virtual machines have
none, or pid and files as before.`,
	Refs:   []string{"containerd/containerd#14106", "containerd/containerd#14123", "containerd/containerd#14135"},
	Rules:  []string{"L25"},
	Status: edit.Upstream,
	Until:  "CRI takes namespaces of a sandbox with pid 0 from its specification",
	Edits: []edit.Edit{
		containerd.SandboxType.AddField(`
// Shared is what containers share of a sandbox that its shim made. It is nil if containerd made it.
Shared *Shared
`),
		containerd.Run.After(edit.Stmt(edit.Assign("sandboxInfo.Spec")), "sandbox.Shared = sharedOf(ctx, sandbox.Sandboxer, ctrl.Spec)"),
		containerd.RecoverAll.After(edit.Stmt(edit.Assign("sb.Endpoint")), "sb.Shared = sharedOf(ctx, sbx.Sandboxer, sbx.Spec)"),
		containerd.CRIMethod(containerd.ContainerCreate, "buildLinuxSpec").Replace(
			edit.Expr("customopts.WithPodNamespaces(securityContext, sandboxPid, targetPid, uids, gids)"),
			"c.withPodNamespaces(sandboxID, securityContext, sandboxPid, targetPid, uids, gids)"),
		containerd.CreateContainer.Replace(edit.Expr("c.sandboxService.SandboxStatus(ctx, sandbox.Sandboxer, sandbox.ID, false)"), "c.controllerStatus(ctx, sandbox, false)"),
		containerd.PodStatus.Replace(edit.Expr("c.sandboxService.SandboxStatus(ctx, sandbox.Sandboxer, sandbox.ID, r.GetVerbose())"), "c.controllerStatus(ctx, sandbox, r.GetVerbose())"),
		mounts.Replace(edit.Expr("c.getSandboxHostname(sandboxID)"), "c.sharedFile(sandboxID, etcHostname, c.getSandboxHostname(sandboxID))"),
		mounts.Replace(edit.Expr("c.getSandboxHosts(sandboxID)"), "c.sharedFile(sandboxID, etcHosts, c.getSandboxHosts(sandboxID))"),
		mounts.Replace(edit.Expr("c.getResolvPath(sandboxID)"), "c.sharedFile(sandboxID, resolvConfPath, c.getResolvPath(sandboxID))"),
		mounts.Replace(edit.Expr("c.getSandboxDevShm(sandboxID)"), "c.sharedFile(sandboxID, devShm, c.getSandboxDevShm(sandboxID))"),
	},
}

// mounts makes the mounts of files that a container shares with its pod.
var mounts = containerd.CRIMethod(containerd.ContainerCreate, "linuxContainerMounts")
