// SPDX-License-Identifier: Apache-2.0

// Package containerd names the places in containerd that several pull requests change.
package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// Files of the CRI service and of NRI that several pull requests change.
const (
	CRIConfig       = "internal/cri/config/config.go"
	CRINRI          = "internal/cri/nri/nri_api_linux.go" // makes NRI's requests from CRI's objects
	CRIService      = "internal/cri/server/service.go"
	criStatus       = "internal/cri/server/status.go"
	ContainerCreate = "internal/cri/server/container_create.go"
	ContainerStatus = "internal/cri/store/container/status.go"
	ContainerRemove = "internal/cri/server/container_remove.go"
	Restart         = "internal/cri/server/restart.go"
	sandboxRemove   = "internal/cri/server/sandbox_remove.go"
	SandboxRun      = "internal/cri/server/sandbox_run.go"
	sandboxStatus   = "internal/cri/server/sandbox_status.go"
	sandboxStore    = "internal/cri/store/sandbox/sandbox.go"
	SandboxStop     = "internal/cri/server/sandbox_stop.go"
	NRIConfig       = "internal/nri/config.go"
	PluginConfig    = "internal/nri/plugin_config.go" // of nri-plugin-settings
	LocalNRI        = "internal/nri/nri.go"           // hands NRI's requests to the adaptation
	NRISandbox      = "internal/nri/sandbox.go"
	NRISandboxLinux = "internal/nri/sandbox_linux.go"
)

// Functions that several pull requests change: creation, stop, removal and recovery of
// pods, and their status.
var (
	Run               = CRIMethod(SandboxRun, "RunPodSandbox")
	Stop              = CRIMethod(SandboxStop, "stopPodSandbox")
	Remove            = CRIMethod(sandboxRemove, "RemovePodSandbox")
	CreateContainer   = CRIMethod(ContainerCreate, "CreateContainer")
	StartContainer    = CRIMethod("internal/cri/server/container_start.go", "StartContainer")
	CreateContainerIn = CRIMethod(ContainerCreate, "createContainer") // for CreateContainer and a restore
	RecoverAll        = CRIMethod(Restart, "recover")
	Status            = CRIMethod(criStatus, "Status")
	PodStatus         = CRIMethod(sandboxStatus, "PodSandboxStatus")
	NewService        = edit.In(CRIService, edit.Func("NewCRIService"))
	UnixDefaults      = edit.In("internal/cri/config/config_unix.go", edit.Func("DefaultRuntimeConfig"))
	WindowsDefaults   = edit.In("internal/cri/config/config_windows.go", edit.Func("DefaultRuntimeConfig"))
	ValidateConfig    = edit.In(CRIConfig, edit.Func("ValidateRuntimeConfig"))
	NewSandbox        = edit.In(sandboxStore, edit.Func("NewSandbox"))
	PodToNRI          = edit.In(NRISandboxLinux, edit.Func("podSandboxToNRI"))
)

// The conditions under which a sandbox takes no container: upstream's, and the one since
// stop-before-reclaim.
const (
	NotReady           = "sandbox.Status.Get().State != sandboxstore.StateReady"
	NotReadyOrStopping = NotReady + " || c.stopping.Has(sandbox.ID)"
)

// CNIDefaults is the paragraph with CNI's settings in the documentation of all defaults.
var CNIDefaults = edit.InSection("docs/cri/config.md", "Full configuration", "plugins.'io.containerd.cri.v1.runtime'.cni]")

// NRIGuide is a paragraph of the guide to NRI.
func NRIGuide(heading string, mentions ...string) edit.Paragraph {
	return edit.InSection("docs/NRI.md", heading, mentions...)
}

// Types to which several pull requests add fields or methods.
var (
	CNIConfig    = edit.In(CRIConfig, edit.Type("CniConfig"))
	ServiceType  = edit.In(CRIService, edit.Type("criService"))
	PodType      = edit.In(CRINRI, edit.Type("criPodSandbox")) // as NRI sees a pod
	NRIPod       = edit.In(NRISandbox, edit.Type("PodSandbox"))
	StoredStatus = edit.In("internal/cri/store/sandbox/status.go", edit.Type("Status"))
	SandboxType  = edit.In(sandboxStore, edit.Type("Sandbox"))
)

// CRIMethod is a method of the CRI service.
func CRIMethod(path, name string) edit.Scope {
	return edit.In(path, edit.Method("criService", name))
}

// Local is a method that hands a request to the adaptation.
func Local(name string) edit.Scope { return edit.In(LocalNRI, edit.Method("local", name)) }
