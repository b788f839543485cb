// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// PodResources sends plugins and sandbox controllers the resources of all containers with
// each pod.
var PodResources = edit.Patch{
	Slug:    "pod-resources",
	Module:  "containerd",
	Subject: "cri,nri: pass on the resources of containers with their pod",
	Body: `A runtime that sizes a VM for a pod, and a plugin that assigns devices
or memory, first see a container when it is created. That is too late to
size anything. In KEP-4112 the kubelet announces the resources of all
containers with the pod.

Keep the announced resources in the sandbox's record over restarts,
change them with in-place updates, and show them in the verbose status.
Pass them to the sandbox's controller in its configuration, and to NRI
plugins in a provisional field of each pod and container. Unreadable
resources fail no pod. The annotation is read only if a setting allows
it, because the author of the pod writes it. Its requests are bounded by
the resources of the machine.`,
	Refs:   []string{"kubernetes/enhancements#4113", "containerd/nri#286"},
	Rules:  []string{"R1", "R2", "R4"},
	Status: edit.Hold,
	Hold:   "KEP-4112 is not merged: CRI and NRI have no fields for it",
	Until:  "CRI and NRI have the fields of KEP-4112",
	Needs:  []string{"containerd/pod-update-recorded-last", "containerd/sandbox-phase", "containerd/network-detach", "containerd/pod-resources-announcement"},
	Edits: []edit.Edit{
		containerd.StoredStatus.AddField(`
// PodResources are the resources of the sandbox's containers, nil if they were not
// announced. They are replaced, never changed in place.
PodResources *podresources.Announcement
// PodResourcesIgnored is whether some could not be read, which is logged once.
PodResourcesIgnored bool`),
		edit.AddImport("internal/cri/store/sandbox/status.go", podResources),
		edit.In(containerd.ContainerStatus, edit.Type("Status")).AddField(`
// KubernetesResources are the resources of the container, nil if the client gave none.
// They are replaced, never changed in place.
KubernetesResources *podresources.KubernetesResources ` + "`json:\",omitempty\"`"),
		edit.AddImport(containerd.ContainerStatus, podResources),
		edit.In(containerd.ContainerStatus, edit.Func("deepCopyOf")).Comment(edit.Stmt(edit.If("s.Resources == nil")),
			`// Resources may be changed in place, so they are copied, field by field.
// KubernetesResources are only ever replaced.`),

		// A new pod.
		containerd.Run.Before(edit.Stmt(edit.Mentions("c.creations.Begin(sandbox)")), `c.takeAnnouncement(ctx, &sandbox)
`),
		containerd.Run.Before(edit.Stmt(edit.Mentions("sandboxInfo.AddExtension(podsandbox.MetadataKey, &sandbox.Metadata)")), `recordAnnouncement(ctx, &sandbox, &sandboxInfo)
`),
		containerd.Run.Replace(edit.Expr("config").Within(edit.Call("c.withSysctls")), "configForController(&sandbox)"),
		containerd.RecoverAll.After(edit.Stmt(edit.Call("c.recoverPhases")), `c.recoverPodResources(ctx, storedSandboxes)`),
		containerd.PodStatus.Before(
			edit.Stmt(edit.Define("status")), `if r.GetVerbose() {
	showPodResources(&sandbox, info)
}
`),

		// A new container.
		containerd.CreateContainer.After(edit.Stmt(edit.Mentions("rejectStopped(&sandbox)")), `ctx = withResources(ctx, &sandbox, config)`),
		edit.In(containerd.ContainerCreate, edit.Method("criService", "createContainer")).After(edit.Stmt(edit.Define("status")), `status.KubernetesResources = nri.ContainerResources(r.ctx)`),
		edit.In(containerd.ContainerCreate, edit.Method("criService", "createContainer")).Replace(edit.Expr("c.nri.UndoCreateContainer(deferCtx, r.sandbox, r.containerID, spec)"),
			"c.nri.UndoCreateContainer(nri.WithContainerResources(deferCtx, nri.ContainerResources(r.ctx)), r.sandbox, r.containerID, spec)"),
		edit.In(containerd.ContainerCreate, edit.Method("criService", "createContainer")).After(edit.Stmt(edit.Mentions("c.containerStore.Add(container)")), `c.keepAsked(r.ctx, r.sandbox, r.containerConfig)`),
		edit.AddImport(containerd.ContainerCreate, "github.com/containerd/containerd/v2/internal/cri/nri"),

		// In-place updates.
		updateContainer.Before(edit.Stmt(edit.Define("resources")), `asked := containerUpdate(ctx, &sandbox, r)
ctx = nri.WithContainerResources(ctx, asked)
`),
		updateContainer.Replace(edit.Stmt(edit.Return("c.updateContainerResources(ctx, container, r, status)")), `status, err := c.updateContainerResources(ctx, container, r, status)
if err == nil && asked != nil {
	status.KubernetesResources = asked
}
return status, err`),
		updateContainer.Before(edit.Stmt(edit.Mentions("c.nri.PostUpdateContainerResources(ctx, &sandbox, &container)")), `if asked != nil {
	followContainer(ctx, &sandbox, &container)
	c.keepPodResources(ctx, &sandbox)
}
`),
		edit.AddImport(criUpdate, "github.com/containerd/containerd/v2/internal/cri/nri"),
		updatePod.Before(edit.Stmt(edit.Define("overhead")), `asked := podUpdate(ctx, &sandbox, r)
ctx = nri.WithPodResources(ctx, asked)
`),
		// It writes only its own parts of the record, because an update of a container may write
		// another part. An update that cannot be written is not kept in memory either.
		updatePod.Replace(edit.Expr(`c.client.SandboxStore().Update(ctx, sandboxInfo, "extensions")`),
			`c.client.SandboxStore().Update(ctx, sandboxInfo, changed...)`),
		updatePod.Before(edit.Stmt(edit.Call("sandboxInfo.AddExtension")), `changed := recordUpdate(ctx, &sandboxInfo, asked)
`),
		updatePod.After(edit.Stmt(edit.Call("sandbox.Status.Update")).And(1), `
if asked != nil {
	setPodResources(&sandbox, asked)
	c.keepPodResources(ctx, &sandbox) // another update may have written its own meanwhile
}`),
		edit.AddImport(sandboxUpdate, "github.com/containerd/containerd/v2/internal/cri/nri"),

		// NRI.
		containerd.NRIPod.AddField(`
// GetPodResources returns the resources of the pod's containers, encoded, or nil
// if they are not known.
GetPodResources() []byte`),
		edit.In("internal/nri/container.go", edit.Type("Container")).AddField(`
// GetKubernetesResources returns the container's resources, encoded, or nil if they
// are not known.
GetKubernetesResources() []byte`),
		containerd.PodToNRI.After(edit.Stmt(edit.Define("nriPod")),
			`provisional.Set(nriPod, provisional.Resources, pod.GetPodResources())`),
		edit.AddImport(containerd.NRISandboxLinux, provisional),
		edit.In("internal/nri/container_linux.go", edit.Func("containerToNRI")).After(edit.Stmt(edit.Define("nriCtr")),
			`provisional.Set(nriCtr, provisional.Resources, ctr.GetKubernetesResources())`),
		edit.AddImport("internal/nri/container_linux.go", provisional),
		containerd.PodType.AddField(`

asked *podresources.Announcement // by the current request`),
		edit.In(containerd.CRINRI, edit.Type("criContainer")).AddField(`

own   *podresources.KubernetesResources
asked *podresources.KubernetesResources // by the current request`),
		edit.AddImport(containerd.CRINRI, podResources),
		edit.In(containerd.CRINRI, edit.Method("API", "nriContainer")).Before(edit.Stmt(edit.Mentions("c.Metadata")), `criCtr.own = c.Status.Get().KubernetesResources`),
		edit.In(containerd.CRINRI, edit.Method("API", "CreateContainer")).After(edit.Stmt(edit.Define("ctr")), `ctr.asks(ctx)`),
		edit.In(containerd.CRINRI, edit.Method("API", "UndoCreateContainer")).After(edit.Stmt(edit.Define("ctr")), `ctr.asks(ctx)`),
		edit.In(containerd.CRINRI, edit.Method("API", "UpdateContainerResources")).After(edit.Stmt(edit.Define("ctr")), `ctr.asks(ctx)`),
		edit.In(containerd.CRINRI, edit.Method("API", "UpdatePodSandboxResources")).After(edit.Stmt(edit.Define("pod")), `pod.asks(ctx)`),

		// The setting.
		edit.In(containerd.CRIConfig, edit.Type("RuntimeConfig")).AddField(`
// PodResourcesAnnotation is whether the resources of a pod's containers are read
// from an annotation if the client does not announce them. The author of a pod
// writes its annotations, so set it only if an admission policy lets nothing but a
// trusted webhook write this one.
PodResourcesAnnotation bool ` + "`toml:\"pod_resources_annotation\" json:\"podResourcesAnnotation\"`"),
		containerd.UnixDefaults.After(edit.Key("DrainExecSyncIOTimeout"), `PodResourcesAnnotation:           false,`).Since("v2.4"),
		containerd.WindowsDefaults.After(edit.Key("DrainExecSyncIOTimeout"), `PodResourcesAnnotation: false,`).Since("v2.4"),
		// Before v2.4 these keys have a longer one among them, by which gofmt aligns them. After the
		// blank line, gofmt aligns the following keys by their own length.
		containerd.UnixDefaults.Before(edit.Key("EnableSelinux"), "PodResourcesAnnotation: false,\n\n").Below("v2.4"),
		containerd.WindowsDefaults.Before(edit.Key("MaxContainerLogLineSize"), "PodResourcesAnnotation: false,\n\n").Below("v2.4"),
	},
}

var (
	updateContainer = containerd.CRIMethod(criUpdate, "UpdateContainerResources")
	updatePod       = containerd.CRIMethod(sandboxUpdate, "UpdatePodSandboxResources")
)

const (
	criUpdate     = "internal/cri/server/container_update_resources.go"
	podResources  = "github.com/containerd/containerd/v2/internal/cri/podresources"
	provisional   = "github.com/containerd/containerd/v2/internal/nri/provisional"
	sandboxUpdate = "internal/cri/server/sandbox_update_resources.go"
)
