// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

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

Name what is not recovered in the log, count it, and go on with the rest. Of
two with the same name the first reserves it; each is removed by its id. That a
sandbox was never started is no error.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L17", "L22", "L23"},
	Status: edit.Upstream,
	Until:  "no record of a single sandbox or container keeps CRI from starting",
	Edits: []edit.Edit{
		edit.AddImport(restart, "github.com/containerd/containerd/v2/internal/cri/recovery"),
		recoverAll.Replace(edit.Stmt(edit.Call("c.sandboxStore.Add")).Within(edit.Range("sandboxes")), `if err := c.sandboxStore.Add(sb); err != nil {
	recovery.PassOver(ctx2, recovery.Sandbox, sandbox.ID(), err)
	return nil
}`),
		recoverAll.Replace(edit.Stmt(edit.Call("c.sandboxNameIndex.Reserve")), `c.recoverSandboxName(ctx2, &sb)`),
		recoverAll.Replace(edit.Stmt(edit.Call("fmt.Errorf")).Within(edit.All(edit.If("err != nil"), edit.Has(edit.Call("errors.Is")))), `recovery.PassOver(ctx, recovery.Sandbox, sbx.ID, err)
continue`),
		recoverAll.Replace(edit.Stmt(edit.Call("c.sandboxStore.Add")).Within(edit.Range("storedSandboxes")), `if err := c.sandboxStore.Add(sb); err != nil {
	recovery.PassOver(ctx, recovery.Sandbox, sbx.ID, err)
	continue
}`),
		recoverAll.Replace(edit.Stmt(edit.Call("c.containerStore.Add")), `if err := c.containerStore.Add(cntr); err != nil {
	recovery.PassOver(ctx2, recovery.Container, container.ID(), err)
	return nil
}`),
		recoverAll.Replace(edit.Stmt(edit.Call("c.containerNameIndex.Reserve")), `if err := c.containerNameIndex.Reserve(cntr.Name, cntr.ID); err != nil {
	recovery.PassOver(ctx2, recovery.ContainerName, cntr.ID, err)
}`),
		recoverAll.Replace(edit.Stmt(edit.Call("c.ImageService.CheckImages")), `if err := c.ImageService.CheckImages(ctx); err != nil {
	recovery.PassOver(ctx, recovery.Images, "images", err)
}`),
		recoverAll.Replace(edit.Stmt(edit.Call("cleanupOrphanedIDDirs")), `if err := cleanupOrphanedIDDirs(ctx, cleanup.cntrs, cleanup.base); err != nil {
	recovery.PassOver(ctx, recovery.Folder, cleanup.base, err)
}`),

		// What cannot be loaded was logged already, and is counted now.
		recoverAll.Replace(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("log.G")))).Within(edit.Range("sandboxes")), `if err != nil {
	recovery.PassOver(ctx2, recovery.Sandbox, sandbox.ID(), err)
	return nil
}`),
		recoverAll.Replace(edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("log.G")))).Within(edit.Range("containers")), `if err != nil {
	recovery.PassOver(ctx2, recovery.Container, container.ID(), err)
	return nil
}`),
		recoverAll.Replace(edit.Stmt(edit.Call("log.G")).Within(edit.All(edit.If("err != nil"), edit.Has(edit.Assign("state")))), `if !errdefs.IsNotFound(err) { // else it was never started, or has ended
	recovery.PassOver(ctx, recovery.SandboxState, sbx.ID, err)
}`),
		edit.AddImport(podSandboxRecover, "github.com/containerd/containerd/v2/internal/cri/recovery"),
		edit.In(podSandboxRecover, edit.Method("Controller", "RecoverContainer")).Replace(
			edit.Stmt(edit.Call("fmt.Errorf")).Within(edit.Call("sb.GetExtension")), `recovery.PassOver(ctx, recovery.SandboxUpdate, meta.ID, err)
updatedRes = UpdatedResources{}`),
	},
}
