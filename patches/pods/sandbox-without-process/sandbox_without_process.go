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

CRI watches the exit of such a sandbox, so it knows its status, and its
platform is that of the host. CRI answers both without asking the shim.
Otherwise a shim that hangs would delay the kubelet, which asks for the
status of each changed pod, and creates containers. A stop has the time
of a task's state. As these shims have no resources of their own, CRI
does not update them.

It concerns shims that make sandboxes (sandboxer = "shim") and answer
with a specification that has a section for Linux. Virtual machines have
none, or pid and files as before.`,
	Refs:   []string{"containerd/containerd#14106", "containerd/containerd#14123", "containerd/containerd#14135"},
	Rules:  []string{"L22", "L25"},
	Status: edit.Upstream,
	Until:  "CRI takes namespaces of a sandbox with pid 0 from its specification",
	Edits: []edit.Edit{
		containerd.SandboxType.AddField(`
// Shared has the namespaces and files that containers share of a sandbox that its shim made. It is
// nil if containerd made the sandbox.
Shared *specs.Spec
// WithoutProcess is whether the shim has said that the sandbox has no process.
WithoutProcess bool
`),
		edit.AddImport("internal/cri/store/sandbox/sandbox.go", "github.com/opencontainers/runtime-spec/specs-go"),
		containerd.NewService.After(edit.Stmt(edit.Define("c")), "c.sandboxService = promptSandboxService{c.sandboxService, c.sandboxStore}\n"),
		containerd.Run.After(edit.Stmt(edit.Assign("sandboxInfo.Spec")), "noteShared(ctx, &sandbox, ctrl)"),
		containerd.RecoverAll.After(edit.Stmt(edit.Assign("sb.Endpoint")), "recoverShared(ctx, &sb, sbx, status)"),
		containerd.CRIMethod(containerd.ContainerCreate, "buildLinuxSpec").Replace(
			edit.Expr("customopts.WithPodNamespaces(securityContext, sandboxPid, targetPid, uids, gids)"),
			"c.withPodNamespaces(sandboxID, securityContext, sandboxPid, targetPid, uids, gids)"),
		mounts.Replace(edit.Expr("c.getSandboxHostname(sandboxID)"), "c.sharedFile(sandboxID, etcHostname, c.getSandboxHostname(sandboxID))"),
		mounts.Replace(edit.Expr("c.getSandboxHosts(sandboxID)"), "c.sharedFile(sandboxID, etcHosts, c.getSandboxHosts(sandboxID))"),
		mounts.Replace(edit.Expr("c.getResolvPath(sandboxID)"), "c.sharedFile(sandboxID, resolvConfPath, c.getResolvPath(sandboxID))"),
		mounts.Replace(edit.Expr("c.getSandboxDevShm(sandboxID)"), "c.sharedFile(sandboxID, devShm, c.getSandboxDevShm(sandboxID))"),
	},
}

// mounts makes the mounts of files that a container shares with its pod.
var mounts = containerd.CRIMethod(containerd.ContainerCreate, "linuxContainerMounts")
