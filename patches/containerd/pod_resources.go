// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

const (
	criCreate = "internal/cri/server/container_create.go"
	criUpdate = "internal/cri/server/container_update_resources.go"
)

// PodResources tells plugins and sandbox controllers with a pod what its
// containers ask for.
var PodResources = edit.Patch{
	Slug:    "cri-pod-resources",
	Module:  "containerd",
	Subject: "cri,nri: tell with a pod what its containers ask for",
	Body: `A runtime that sizes a VM for a pod, and a plugin that has devices or memory to
give, learn of each container when it is created, and of none before: too
late to size anything. KEP-4112 has the kubelet tell with the pod, and CRI has
no fields for it yet.

Read them from the fields of requests that CRI does not know, which gRPC
keeps, under the KEP's numbers, or else from an annotation of the pod. Keep
them with the sandbox's record over restarts, change them with in-place
updates, show them in verbose status, and give them to the sandbox's
controller with its configuration, and to NRI plugins in a provisional field of
each pod, and of each container its own. Compare each container with what was
announced, and let it through, log it or refuse it, as configured. What cannot
be read fails no pod.`,
	Refs:   []string{"kubernetes/enhancements#4113", "containerd/nri#286"},
	Rules:  []string{"R1", "R2", "R3", "R4"},
	Status: edit.Upstream,
	Until:  "CRI and NRI have the fields of KEP-4112",
	Edits: []edit.Edit{
		edit.In("internal/cri/store/sandbox/status.go", edit.Type("Status")).AddField(`
// PodResources is what the containers of the sandbox ask for, nil if that was
// not said. It is not changed, only replaced.
PodResources *podresources.PodResourceConfig`),
		edit.AddImport("internal/cri/store/sandbox/status.go", podResources),
		edit.In("internal/cri/store/container/status.go", edit.Type("Status")).AddField(`
// KubernetesResources is what the container asks for, nil if that was not said.
// It is not changed, only replaced.
KubernetesResources *podresources.KubernetesResources ` + "`json:\",omitempty\"`"),
		edit.AddImport("internal/cri/store/container/status.go", podResources),

		// A new pod.
		run.Before(edit.Stmt(edit.Mentions("sandboxInfo.AddExtension(podsandbox.MetadataKey, &sandbox.Metadata)")), `if err := announce(ctx, &sandbox, &sandboxInfo); err != nil {
	return nil, fmt.Errorf("unable to keep what the containers of sandbox %q ask for: %w", id, err)
}
`),
		run.Replace(edit.Expr("sb.WithOptions(config)"), "sb.WithOptions(announcedConfig(&sandbox))"),
		edit.In(restart, edit.Method("criService", "recover")).After(edit.Stmt(edit.Call("c.forgetPhases")), `c.recoverPodResources(ctx, storedSandboxes)`),
		edit.In("internal/cri/server/sandbox_status.go", edit.Method("criService", "PodSandboxStatus")).Before(
			edit.Stmt(edit.Define("status")), `if r.GetVerbose() {
	if err := showPodResources(&sandbox, info); err != nil {
		return nil, err
	}
}
`),

		// A new container.
		edit.In(criCreate, edit.Method("criService", "CreateContainer")).After(edit.Stmt(edit.Mentions("refuseStopped(&sandbox)")), `if ctx, err = c.announced(ctx, &sandbox, config); err != nil {
	return nil, err
}`),
		edit.In(criCreate, edit.Method("criService", "createContainer")).After(edit.Stmt(edit.Define("status")), `status.KubernetesResources = nri.ContainerResources(r.ctx)`),
		edit.AddImport(criCreate, "github.com/containerd/containerd/v2/internal/cri/nri"),

		// In-place updates.
		edit.In(criUpdate, edit.Method("criService", "UpdateContainerResources")).Before(edit.Stmt(edit.Define("resources")), `asked := updatedResources(ctx, &sandbox, r)
ctx = nri.WithContainerResources(ctx, asked)
`),
		edit.In(criUpdate, edit.Method("criService", "UpdateContainerResources")).Before(edit.Stmt(edit.Mentions("c.nri.PostUpdateContainerResources(ctx, &sandbox, &container)")), `if err := c.keepContainerResources(ctx, &sandbox, &container, asked); err != nil {
	return nil, err
}
`),
		edit.AddImport(criUpdate, "github.com/containerd/containerd/v2/internal/cri/nri"),
		edit.In(sandboxUpdate, edit.Method("criService", "UpdatePodSandboxResources")).Before(edit.Stmt(edit.Define("overhead")), `asked := updatedPodResources(ctx, &sandbox, r)
ctx = nri.WithPodResources(ctx, asked)
`),
		edit.In(sandboxUpdate, edit.Method("criService", "UpdatePodSandboxResources")).Before(edit.Stmt(edit.Define("sandboxInfo", "err")), `if asked != nil {
	if err := c.keepPodResources(ctx, &sandbox, func(*podresources.PodResourceConfig) *podresources.PodResourceConfig { return asked }); err != nil {
		return nil, err
	}
}
`),
		edit.AddImport(sandboxUpdate, "github.com/containerd/containerd/v2/internal/cri/nri"),
		edit.AddImport(sandboxUpdate, podResources),

		// NRI.
		edit.In("internal/nri/sandbox.go", edit.Type("PodSandbox")).AddField(`
GetPodResources() *podresources.PodResourceConfig`),
		edit.AddImport("internal/nri/sandbox.go", podResources),
		edit.In("internal/nri/container.go", edit.Type("Container")).AddField(`
GetKubernetesResources() *podresources.KubernetesResources`),
		edit.AddImport("internal/nri/container.go", podResources),
		edit.In("internal/nri/sandbox_linux.go", edit.Func("podSandboxToNRI")).After(edit.Stmt(edit.Define("nriPod")),
			`podresources.Attach(nriPod, pod.GetPodResources())`),
		edit.AddImport("internal/nri/sandbox_linux.go", podResources),
		edit.In("internal/nri/container_linux.go", edit.Func("containerToNRI")).After(edit.Stmt(edit.Define("nriCtr")),
			`podresources.AttachContainer(nriCtr, ctr.GetKubernetesResources())`),
		edit.AddImport("internal/nri/container_linux.go", podResources),
		edit.In(criNRI, edit.Type("criPodSandbox")).AddField(`

asked *podresources.PodResourceConfig`),
		edit.In(criNRI, edit.Type("criContainer")).AddField(`

asked *podresources.KubernetesResources`),
		edit.AddImport(criNRI, podResources),
		edit.In(criNRI, edit.Method("API", "nriContainer")).Before(edit.Stmt(edit.Assign("criCtr.pid")), `criCtr.asked = c.Status.Get().KubernetesResources`),
		edit.In(criNRI, edit.Method("API", "CreateContainer")).After(edit.Stmt(edit.Define("ctr")), `ctr.asks(ctx)`),
		edit.In(criNRI, edit.Method("API", "UpdateContainerResources")).After(edit.Stmt(edit.Define("ctr")), `ctr.asks(ctx)`),
		edit.In(criNRI, edit.Method("API", "UpdatePodSandboxResources")).After(edit.Stmt(edit.Define("pod")), `pod.asks(ctx)`),

		// The setting.
		edit.In(criConfig, edit.Type("RuntimeConfig")).AddField(`
// PodResourcesCheck is what becomes of a container that differs from what was
// announced of it with its pod: "off", "warn" or "enforce".
PodResourcesCheck string ` + "`toml:\"pod_resources_check\" json:\"podResourcesCheck\"`"),
		edit.In("internal/cri/config/config_unix.go", edit.Func("DefaultRuntimeConfig")).After(edit.Key("DrainExecSyncIOTimeout"), `PodResourcesCheck:                PodResourcesCheckWarn,`),
		edit.In("internal/cri/config/config_windows.go", edit.Func("DefaultRuntimeConfig")).After(edit.Key("DrainExecSyncIOTimeout"), `PodResourcesCheck:      PodResourcesCheckWarn,`),
		edit.In(criConfig, edit.Func("ValidateRuntimeConfig")).Before(edit.Stmt(edit.If(`c.DrainExecSyncIOTimeout != ""`)), `if err := c.validatePodResourcesCheck(); err != nil {
	return warnings, err
}
`),
	},
	Files: []edit.File{
		criFile("config/pod_resources.go"), criFile("config/pod_resources_test.go"),
		criFile("nri/resources.go"), criFile("nri/resources_linux.go"), criFile("nri/resources_linux_test.go"),
		criFile("server/pod_resources.go"), criFile("server/pod_resources_check.go"), criFile("server/pod_resources_metrics.go"),
		criFile("server/pod_resources_test.go"),
	},
	Packages: []edit.Package{{
		From:   "internal/cri/podresources",
		To:     "internal/cri/podresources",
		Except: []string{"resources.proto", "testdata"},
	}},
}

const (
	podResources  = "github.com/containerd/containerd/v2/internal/cri/podresources"
	sandboxUpdate = "internal/cri/server/sandbox_update_resources.go"
)

// criFile is a file of CRI's folder.
func criFile(path string) edit.File {
	return edit.File{From: "patches/containerd/files/internal/cri/" + path, To: "internal/cri/" + path}
}
