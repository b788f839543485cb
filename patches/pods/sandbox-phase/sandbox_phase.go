// SPDX-License-Identifier: Apache-2.0

package sandboxphase

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

const netnsLinux = "pkg/netns/netns_linux.go"

var (
	newNS       = edit.In(netnsLinux, edit.Func("newNS"))
	usernsNetNS = edit.In("internal/cri/server/sandbox_run_linux.go", edit.Method("criService", "setupNetnsWithinUserns"))
)

// SandboxPhase keeps over a restart whether a sandbox was being created or was stopped.
var SandboxPhase = edit.Patch{
	Slug:    "sandbox-phase",
	Module:  "containerd",
	Subject: "cri: recognize sandboxes whose creation a restart interrupted",
	Body: `If containerd is killed while it creates a pod, a sandbox whose process
was started comes back as ready, though its creation was not complete.
NRI plugins have not approved it, or have not received RunPodSandbox at
all. A network namespace that was mounted, but was not in the sandbox's
record yet, leaks. Sandboxes that are recovered from their record alone
do not keep their names reserved.

Record the phase of a sandbox that is being created, or was stopped, in
a small file. A sandbox that is recovered in the first phase is unknown,
which the kubelet sees as not ready, and removes. The second phase says
that plugins have received StopPodSandbox, which the states of the
process and the network do not show. A pod that is being stopped takes
no new containers.

A containerd without this patch reads no phases. A sandbox that it took
for ready, and that has containers since, is ready. No file among the
phases prevents CRI from starting.

Choose the path of the network namespace first, so that it is in the
first record. That saves one transaction of the metadata database.

A sandbox whose stop failed, for example because crictl canceled it, is
not ready: it takes no containers, and the kubelet replaces it. A
sandbox whose controller did not answer when containerd started keeps
the status that its controller reports later, so the pods of a remote
controller that starts after containerd run on. The name of a sandbox
that is known from its record alone is reserved until it is removed.`,
	Refs:   []string{"containerd/containerd#8426", "containerd/containerd#13859", "containerd/nri#286"},
	Rules:  []string{"L5", "L7", "L11", "L15", "L22", "L23"},
	Status: edit.Upstream,
	Until:  "containerd does not report a sandbox whose creation a restart interrupted as ready, and records its network namespace before creating it",
	Needs:  []string{"containerd/stop-before-reclaim", "containerd/hidden-until-ready", "containerd/recover-the-rest"},
	Edits: []edit.Edit{
		// The path of a network namespace is known before its creation.
		newNS.Signature("func newNS(nsPath string, pid uint32) (_ string, err error)"),
		newNS.Delete(edit.Stmt(edit.Define("b")).And(2)),
		newNS.Replace(edit.Expr("os.MkdirAll(baseDir, 0755)"), "os.MkdirAll(path.Dir(nsPath), 0755)"),
		newNS.Delete(edit.Stmt(edit.Define("nsName")).And(1)),
		edit.DropImport(netnsLinux, "crypto/rand"),
		edit.In(netnsLinux, edit.Func("NewNetNSFromPID")).Replace(edit.Stmt(edit.Define("path", "err")), `path, err := NewPath(baseDir)
if err == nil {
	_, err = newNS(path, pid)
}`),
		containerd.Run.Delete(edit.Stmt(edit.Declare("netnsMountDir")).And(1)),
		edit.DropImport(containerd.SandboxRun, "path/filepath"),
		containerd.Run.Replace(edit.Expr("netns.NewNetNS(netnsMountDir)"), "netns.NewNetNSAt(sandbox.NetNSPath, 0)"),
		containerd.Run.Replace(edit.Expr("c.setupNetnsWithinUserns(netnsMountDir, usernsOpts)"), "c.setupNetnsWithinUserns(sandbox.NetNSPath, usernsOpts)"),
		containerd.Run.Delete(edit.Stmt(edit.Mentions("sandbox.NetNS.GetPath()"))),
		usernsNetNS.Signature("func (c *criService) setupNetnsWithinUserns(netnsPath string, opt *runtime.UserNamespace) (*netns.NetNS, error)"),
		usernsNetNS.Replace(edit.Expr("netns.NewNetNSFromPID(netnsMountDir, uint32(pid))"), "netns.NewNetNSAt(netnsPath, uint32(pid))"),

		// The phase.
		containerd.StoredStatus.AddField(`
// Phase is whether the sandbox is being created, being stopped, or stopped.
Phase Phase
// StopFailed is whether a stop of the sandbox failed. Such a sandbox takes no containers any
// more, so it is not ready.
StopFailed bool`),
		containerd.ServiceType.AddField(`
// phases keeps the phases of sandboxes over a restart.
phases *sandboxstore.Phases`),
		containerd.NewService.Before(edit.Stmt(edit.All(edit.If("err != nil"), edit.Call("c.initPlatform"))), `c.phases = c.openPhases()
`),
		containerd.Run.After(edit.Stmt(edit.Assign("sandbox.Sandboxer")), `

if err := c.startPhase(&sandbox); err != nil {
	return nil, err
}
undo.push("end_phase", func(ctx context.Context) error {
	c.endPhase(ctx, &sandbox)
	return nil
})`),
		containerd.Run.Before(edit.Stmt(edit.Call("c.becomeReady")), "c.endPhase(ctx, &sandbox)"),
		containerd.Run.Delete(edit.Stmt(edit.Call("sandboxInfo.AddExtension")).And(1).Within(edit.If("!hostNetwork(config)")).Times(2)),
		containerd.Run.Before(edit.Stmt(edit.Mentions(`"teardown_pod_network"`)), `if sandboxInfo, err = c.recordNetNS(ctx, sandboxInfo, &sandbox); err != nil {
	return nil, err
}`),
		containerd.Run.After(edit.Stmt(edit.Call("sandboxCreateNetworkTimer.UpdateSince")), `if sandboxInfo, err = c.recordSandbox(ctx, sandboxInfo, &sandbox); err != nil {
	return nil, err
}`),
		containerd.CreateContainer.After(
			edit.Stmt(edit.If(containerd.NotReadyOrStopping)), `if err := rejectStopped(&sandbox); err != nil {
	return nil, err
}`),
		containerd.Stop.Signature("func (c *criService) stopPodSandbox(ctx context.Context, sandbox sandboxstore.Sandbox) (retErr error)"),
		containerd.Stop.Before(
			edit.Stmt(edit.Define("containers")), `beginStop(&sandbox)
defer func() { leaveStop(&sandbox, retErr) }()`),
		containerd.Stop.After(
			edit.Stmt(edit.Call("c.nri.StopPodSandbox")).And(1), "c.stopPhase(ctx, &sandbox)"),
		containerd.Remove.After(
			edit.Stmt(edit.Call("c.sandboxStore.Delete")), "c.endPhase(ctx, &sandbox)"),
		containerd.PodStatus.After(
			edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Assign("createdAt")))), `if notReady(sandbox.Status.Get()) {
	state = runtime.PodSandboxState_SANDBOX_NOTREADY.String() // as in the list, whatever the state of its process
}`),
		edit.In("internal/cri/server/sandbox_list.go", edit.Func("toCRISandbox")).Replace(
			edit.Expr("status.State == sandboxstore.StateReady"), "status.State == sandboxstore.StateReady && !status.StopFailed"),

		// A restart. Clients number the next attempt at a pod after the newest sandbox.
		containerd.RecoverAll.Replace(edit.Expr("sandboxstore.Status{State: state, Unreadable: unreadable}"), "sandboxstore.Status{State: state, Unreadable: unreadable, CreatedAt: sbx.CreatedAt}"),
		containerd.RecoverAll.After(edit.Stmt(edit.Call("c.sandboxStore.Add")).Within(edit.Range("storedSandboxes")), `c.recoverSandboxName(ctx, &sb)`),
		containerd.RecoverAll.Before(edit.Stmt(edit.Call("c.ImageService.CheckImages")), "c.recoverPhases(ctx)"),
	},
}
