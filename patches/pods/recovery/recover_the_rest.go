// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

const podSandboxRecover = "internal/cri/server/podsandbox/recover.go"

// RecoverTheRest starts CRI although something of what was kept cannot be recovered.
var RecoverTheRest = edit.Patch{
	Slug:    "recover-the-rest",
	Module:  "containerd",
	Subject: "cri: recover the rest if something cannot be recovered",
	Body: `CRI does not start if one sandbox or container of its records contradicts
another, or cannot be read: a name that two have, metadata that another version
wrote. All pods of the node are without a runtime then, and the log names a
record that no client of CRI can remove.

Such records come to be. A sandbox that is recovered from its record alone, as
those of shims are, does not reserve its name, so that a pod of the same name
can be created. A creation whose roll-back failed releases its name and leaves
its record.

What is left out of CRI's lists is not safe: its folders are taken for orphaned,
its network for free, its name for unused, and its process outlives each stop. So
nothing is. Of whatever something cannot be read, what is known is in the lists:
a container with unknown state, a pod that is not ready, with the labels by which a
kubelet knows them and the reason in the verbose status. NRI plugins are told of both
by their names. Both can be stopped and removed, by which their processes end. A pod
whose container has all that it needs is as ready as it was.

Of two with the same name the first reserves it; each is removed by its id. That a
sandbox was never started is no error. What is not recovered, or not whole, is named
in the log and counted.

A kubelet replaces what is unknown or not ready; before, CRI was down and the
processes ran on. A container of another client that has CRI's label and none of
its metadata stays out of CRI's lists, as before. If images cannot be listed, CRI
knows none until its next start; before, containerd exited and was started again.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L17", "L22", "L23"},
	Status: edit.Upstream,
	Until:  "no record of a single sandbox or container keeps CRI from starting",
	Needs:  []string{"containerd/unreadable-records"},
	Edits: []edit.Edit{
		edit.AddImport(containerd.Restart, "github.com/containerd/containerd/v2/internal/cri/recovery"),
		edit.DropImport(containerd.Restart, "github.com/containerd/containerd/v2/internal/cri/server/podsandbox"),
		edit.DropImport(containerd.Restart, "github.com/containerd/typeurl/v2"),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.sandboxStore.Add")).Within(edit.Range("sandboxes")), `if err := c.sandboxStore.Add(sb); err != nil {
	recovery.PassOver(ctx2, recovery.Sandbox, sandbox.ID(), err)
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
	recovery.PassOver(ctx, recovery.Sandbox, sbx.ID, err)
	continue
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.containerStore.Add")), `if err := c.containerStore.Add(cntr); err != nil {
	recovery.PassOver(ctx2, recovery.Container, container.ID(), err)
	return nil
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.containerNameIndex.Reserve")), `if err := c.containerNameIndex.Reserve(cntr.Name, cntr.ID); err != nil {
	recovery.PassOver(ctx2, recovery.ContainerName, cntr.ID, err)
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("c.ImageService.CheckImages")), `if err := c.ImageService.CheckImages(ctx); err != nil {
	recovery.PassOver(ctx, recovery.Images, "images", err)
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("cleanupOrphanedIDDirs")), `if err := cleanupOrphanedIDDirs(ctx, cleanup.cntrs, cleanup.base); err != nil {
	recovery.PassOver(ctx, recovery.Folder, cleanup.base, err)
}`),

		// What cannot be loaded was logged already, and is counted now.
		containerd.RecoverAll.Replace(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("log.G")))).Within(edit.Range("sandboxes")), `if err != nil {
	recovery.PassOver(ctx2, recovery.Sandbox, sandbox.ID(), err)
	return nil
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("log.G")))).Within(edit.Range("containers")), `if err != nil {
	recovery.PassOver(ctx2, recovery.Container, container.ID(), err)
	return nil
}`),
		containerd.RecoverAll.Replace(edit.Stmt(edit.Call("log.G")).Within(edit.All(edit.If("err != nil"), edit.Has(edit.Assign("state")))), `if !errdefs.IsNotFound(err) { // else it was never started, or has ended
	recovery.PassOver(ctx, recovery.SandboxState, sbx.ID, err)
}`),
		loadContainer.Replace(edit.Stmt(edit.Define("exts")).And(6), `meta, unreadable, err := metadataOf(ctx, cntr)
if err != nil {
	return container, nil, 0, err
}`),
		loadContainer.Before(edit.Stmt(edit.Define("opts")), `if status.Unreadable = unreadable; unreadable != "" && status.State() != runtime.ContainerState_CONTAINER_EXITED {
	status.Unknown = true
}
`),
		edit.In(containerd.ContainerStatus, edit.Type("Status")).AddField("\n// Unreadable says what could not be read of the container, if something could not.\nUnreadable string `json:\"-\"`"),
		containerd.StoredStatus.AddField("\n// Unreadable says what could not be read of the sandbox, if something could not.\nUnreadable string"),

		// What is shown of it.
		containerd.CRIMethod("internal/cri/server/container_status.go", "ContainerStatus").After(edit.Stmt(edit.Call("toCRIContainerInfo")).And(1), `if r.GetVerbose() {
	showUnreadable(container.Status.Get().Unreadable, info)
}
`),
		containerd.PodStatus.Before(edit.Stmt(edit.Define("status")), `if r.GetVerbose() {
	showUnreadable(sandbox.Status.Get().Unreadable, info)
}
`),
		edit.In(containerd.CRINRI, edit.Method("API", "nriContainer")).Replace(edit.Expr("ctrd.Spec(ctx)"), "specOf(ctx, c)"),

		// What is done with it.
		containerd.CRIMethod("internal/cri/server/container_update_resources.go", "updateContainerResources").Before(edit.Stmt(edit.Define("oldSpec")), `if status.Unreadable != "" {
	return newStatus, fmt.Errorf("container %q cannot be updated, as something of it cannot be read: %s: %w", id, status.Unreadable, errdefs.ErrFailedPrecondition)
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
			edit.Stmt(edit.Call("fmt.Errorf")).Within(edit.Call("sb.GetExtension")), `recovery.PassOver(ctx, recovery.SandboxUpdate, meta.ID, err)
updatedRes = UpdatedResources{}`),
	},
}

var loadContainer = containerd.CRIMethod(containerd.Restart, "loadContainer")
