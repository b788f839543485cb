// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// Files of the CRI service and of NRI that several patches change.
const (
	criConfig       = "internal/cri/config/config.go"
	criNRI          = "internal/cri/nri/nri_api_linux.go" // makes NRI's requests from CRI's objects
	criService      = "internal/cri/server/service.go"
	criStatus       = "internal/cri/server/status.go"
	containerCreate = "internal/cri/server/container_create.go"
	containerStatus = "internal/cri/store/container/status.go"
	containerRemove = "internal/cri/server/container_remove.go"
	restart         = "internal/cri/server/restart.go"
	sandboxRecords  = "core/metadata/sandbox.go"
	sandboxRemove   = "internal/cri/server/sandbox_remove.go"
	sandboxRun      = "internal/cri/server/sandbox_run.go"
	sandboxStatus   = "internal/cri/server/sandbox_status.go"
	sandboxStore    = "internal/cri/store/sandbox/sandbox.go"
	sandboxStop     = "internal/cri/server/sandbox_stop.go"
	sandboxUndo     = "internal/cri/server/sandbox_undo.go"    // of undo-in-order
	creationFile    = "internal/cri/store/sandbox/creation.go" // of pods-being-created
	nriConfig       = "internal/nri/config.go"
	pluginConfig    = "internal/nri/plugin_config.go" // of nri-plugin-settings
	localNRI        = "internal/nri/nri.go"           // hands NRI's requests to the adaptation
	nriSandbox      = "internal/nri/sandbox.go"
	nriSandboxLinux = "internal/nri/sandbox_linux.go"
)

// Functions that several patches change: creation, stop, removal and recovery of
// pods, and their status.
var (
	run               = criMethod(sandboxRun, "RunPodSandbox")
	stop              = criMethod(sandboxStop, "stopPodSandbox")
	remove            = criMethod(sandboxRemove, "RemovePodSandbox")
	createContainer   = criMethod(containerCreate, "CreateContainer")
	startContainer    = criMethod("internal/cri/server/container_start.go", "StartContainer")
	createContainerIn = criMethod(containerCreate, "createContainer") // which CreateContainer and a restore share
	recoverAll        = criMethod(restart, "recover")
	status            = criMethod(criStatus, "Status")
	podStatus         = criMethod(sandboxStatus, "PodSandboxStatus")
	newService        = edit.In(criService, edit.Func("NewCRIService"))
	unixDefaults      = edit.In("internal/cri/config/config_unix.go", edit.Func("DefaultRuntimeConfig"))
	windowsDefaults   = edit.In("internal/cri/config/config_windows.go", edit.Func("DefaultRuntimeConfig"))
	validateConfig    = edit.In(criConfig, edit.Func("ValidateRuntimeConfig"))
	newSandbox        = edit.In(sandboxStore, edit.Func("NewSandbox"))
	podToNRI          = edit.In(nriSandboxLinux, edit.Func("podSandboxToNRI"))
)

// What keeps a container out of a sandbox, and what does since stop-before-reclaim.
const (
	notReady           = "sandbox.Status.Get().State != sandboxstore.StateReady"
	notReadyOrStopping = notReady + " || c.stopping.Has(sandbox.ID)"
)

// cniDefaults are the settings of CNI in the documentation of all defaults.
var cniDefaults = edit.InSection("docs/cri/config.md", "Full configuration", "plugins.'io.containerd.cri.v1.runtime'.cni]")

// nriGuide is a section of the guide to NRI.
func nriGuide(heading string, mentions ...string) edit.Paragraph {
	return edit.InSection("docs/NRI.md", heading, mentions...)
}

// Types to which several patches add fields or methods.
var (
	cniConfig    = edit.In(criConfig, edit.Type("CniConfig"))
	serviceType  = edit.In(criService, edit.Type("criService"))
	podType      = edit.In(criNRI, edit.Type("criPodSandbox")) // as NRI sees a pod
	nriPod       = edit.In(nriSandbox, edit.Type("PodSandbox"))
	storedStatus = edit.In("internal/cri/store/sandbox/status.go", edit.Type("Status"))
	sandboxType  = edit.In(sandboxStore, edit.Type("Sandbox"))
)

func criMethod(path, name string) edit.Scope {
	return edit.In(path, edit.Method("criService", name))
}

// local is a method that hands a request to the adaptation.
func local(name string) edit.Scope { return edit.In(localNRI, edit.Method("local", name)) }

// networkPackage are files of a package for the network. The check for leaked
// goroutines is not among them, as it needs a module that containerd does not require.
func networkPackage(name string, files ...string) edit.Package {
	return edit.Package{From: "internal/cri/" + name, To: "internal/cri/" + name, Only: files, Except: []string{"main_test.go"}}
}
