// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

const podSandboxRecover = "internal/cri/server/podsandbox/recover.go"

// RecoverTheRest starts CRI even if some records cannot be recovered.
var RecoverTheRest = edit.Patch{
	Slug:    "recover-the-rest",
	Module:  "containerd",
	Subject: "cri: start even if a record cannot be recovered",
	Body: `CRI does not start if one sandbox or container of its records
contradicts another or cannot be read. Examples are two sandboxes of one
name, and metadata that another version wrote. All pods of the node are
without a runtime then, and the log names a record that no client of CRI
can remove.

Such records occur. A sandbox that is recovered from its record alone,
as those of shims are, does not reserve its name, so that a pod of the
same name can be created. A creation whose roll-back failed releases its
name and leaves its record.

To leave such a sandbox or container out of CRI's lists is not safe: its
folders count as orphaned, its network as free and its name as unused,
and its process outlives each stop. So list it with all that is known of
it: a container in unknown state, or a pod that is not ready, with the
labels by which a kubelet identifies it and the reason in the verbose
status. NRI plugins receive both by their names. Both can be stopped and
removed, which ends their processes. A pod whose container has all that
it needs stays ready.

If two sandboxes have one name, the first reserves it, and each is
removed by its id. A sandbox that was never started is no error. The log
names each record that was not fully recovered, and a metric counts
them.

A kubelet replaces containers and pods that are unknown or not ready.
Without this patch, CRI was down and the processes ran on. A container
of another client that has CRI's label but no metadata of CRI stays out
of CRI's lists, as before. If images cannot be listed, CRI has none
until its next start; before, containerd exited and was started again.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L17", "L22", "L23"},
	Status: edit.Upstream,
	Until:  "no record of a single sandbox or container prevents CRI from starting",
	Needs:  []string{"containerd/unreadable-records"},
	Edits: []edit.Edit{
		edit.AddImport(containerd.Restart, "github.com/containerd/containerd/v2/internal/cri/recovery"),
		edit.DropImport(containerd.Restart, "github.com/containerd/containerd/v2/internal/cri/server/podsandbox"),
		edit.DropImport(containerd.Restart, "github.com/containerd/typeurl/v2"),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.sandboxStore.Add")).Within(edit.Range("sandboxes")), `if err := c.sandboxStore.Add(sb); err != nil {
	recovery.Skip(ctx2, recovery.Sandbox, sandbox.ID(), err)
	return nil
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.sandboxNameIndex.Reserve")), `c.recoverSandboxName(ctx2, &sb)`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.If("err == nil")).Within(edit.Range("storedSandboxes")), `if sb, err := c.sandboxStore.Get(sbx.ID); err == nil {
	noteUnreadable(&sb, sbx)
	continue
}
`),
		containerd.RecoverAll.Delete(edit.Stmt(edit.Define("metadata"))),
		containerd.RecoverAll.Replace(edit.Stmt(edit.All(edit.Define("err"), edit.Call("sbx.GetExtension"))), `metadata, unreadable, err := readMetadata(ctx, sbx)`),
		containerd.RecoverAll.Before(edit.Stmt(edit.All(edit.Define("sb"), edit.Call("sandboxstore.NewSandbox"))), `if unreadable != "" {
	state = sandboxstore.StateUnknown
}
`),
		containerd.RecoverAll.Replace(edit.Expr("sandboxstore.Status{State: state}"), "sandboxstore.Status{State: state, Unreadable: unreadable}"),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.sandboxStore.Add")).Within(edit.Range("storedSandboxes")), `if err := c.sandboxStore.Add(sb); err != nil {
	recovery.Skip(ctx, recovery.Sandbox, sbx.ID, err)
	continue
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.containerStore.Add")), `if err := c.containerStore.Add(cntr); err != nil {
	recovery.Skip(ctx2, recovery.Container, container.ID(), err)
	return nil
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.containerNameIndex.Reserve")), `if err := c.containerNameIndex.Reserve(cntr.Name, cntr.ID); err != nil {
	recovery.Skip(ctx2, recovery.ContainerName, cntr.ID, err)
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.ImageService.CheckImages")), `if err := c.ImageService.CheckImages(ctx); err != nil {
	recovery.Skip(ctx, recovery.Images, "images", err)
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("cleanupOrphanedIDDirs")), `if err := cleanupOrphanedIDDirs(ctx, cleanup.cntrs, cleanup.base); err != nil {
	recovery.Skip(ctx, recovery.Folder, cleanup.base, err)
}`),

		// A failure to load was logged already, and is counted now.
		containerd.RecoverAll.Replace(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("log.G")))).Within(edit.Range("sandboxes")), `if err != nil {
	recovery.Skip(ctx2, recovery.Sandbox, sandbox.ID(), err)
	return nil
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("log.G")))).Within(edit.Range("containers")), `if err != nil {
	recovery.Skip(ctx2, recovery.Container, container.ID(), err)
	return nil
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("log.G")).Within(edit.All(edit.If("err != nil"), edit.Has(edit.Assign("state")))), `if !errdefs.IsNotFound(err) { // if not found, it was never started or has ended
	recovery.Skip(ctx, recovery.SandboxState, sbx.ID, err)
}`),
		loadContainer.Replace(edit.Stmt(edit.Define("exts")).And(6), `meta, unreadable, err := metadataOf(ctx, cntr)
if err != nil {
	return container, nil, 0, err
}`),
		loadContainer.Before(edit.Stmt(edit.Define("opts")), `if status.Unreadable = unreadable; unreadable != "" && status.State() != runtime.ContainerState_CONTAINER_EXITED {
	status.Unknown = true
}
`),
		edit.In(containerd.ContainerStatus, edit.Type("Status")).AddField("\n// Unreadable names the values of the container that could not be read, if any.\nUnreadable string `json:\"-\"`"),
		containerd.StoredStatus.AddField("\n// Unreadable names the values of the sandbox that could not be read, if any.\nUnreadable string"),

		// The verbose status shows the reason.
		containerd.CRIMethod("internal/cri/server/container_status.go", "ContainerStatus").After(edit.Stmt(edit.Call("toCRIContainerInfo")).And(1), `if r.GetVerbose() {
	showUnreadable(container.Status.Get().Unreadable, info)
}
`),
		containerd.PodStatus.Before(edit.Stmt(edit.Define("status")), `if r.GetVerbose() {
	showUnreadable(sandbox.Status.Get().Unreadable, info)
}
`),
		edit.In(containerd.CRINRI, edit.Method("API", "nriContainer")).Replace(edit.Expr("ctrd.Spec(ctx)"), "specOf(ctx, c)"),

		// It can be stopped, but not updated.
		containerd.CRIMethod("internal/cri/server/container_update_resources.go", "updateContainerResources").Before(edit.Stmt(edit.Define("oldSpec")), `if status.Unreadable != "" {
	return newStatus, fmt.Errorf("container %q cannot be updated, because its record cannot be fully read: %s: %w", id, status.Unreadable, errdefs.ErrFailedPrecondition)
}
`),
		edit.In("internal/cri/server/podsandbox/sandbox_stop.go", edit.Method("Controller", "Stop")).Replace(edit.Expr("getMetadata(ctx, podSandbox.Container)"), "metadataToStop(ctx, podSandbox)"),

		edit.AddImport(podSandboxRecover, "github.com/containerd/containerd/v2/internal/cri/recovery"),
		edit.In(podSandboxRecover, edit.Method("Controller", "RecoverContainer")).Replace(edit.Stmt(edit.Define("meta")), `meta, unreadable, err := c.metadataOf(ctx, cntr)`),
		edit.In(podSandboxRecover, edit.Method("Controller", "RecoverContainer")).Before(edit.Stmt(edit.Define("podSandbox")), `if unreadable != "" {
	s.State, s.Unreadable, ch = sandboxstore.StateUnknown, unreadable, nil
}
`),
		edit.In(podSandboxRecover, edit.Method("Controller", "RecoverContainer")).Replace(
			edit.Stmt(edit.Call("fmt.Errorf")).Within(edit.Call("sb.GetExtension")), `recovery.Skip(ctx, recovery.SandboxUpdate, meta.ID, err)
updatedRes = UpdatedResources{}`),
	},
}

var loadContainer = containerd.CRIMethod(containerd.Restart, "loadContainer")
