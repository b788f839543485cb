// SPDX-License-Identifier: Apache-2.0

package config

import (
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/plugins"
)

// WithoutProcess reports whether pods of a runtime have namespaces on this host, but no pause
// container that holds them: a shim for runc, which the handler names, makes their sandboxes.
func (r Runtime) WithoutProcess() bool {
	return r.Type == plugins.RuntimeRuncV2 && r.Path != "" && r.Sandboxer == string(ModeShim)
}

// forPod returns the runtime that makes a pod. A mount cannot hold a PID namespace whose first
// process has ended, and no shim can make namespaces that belong to a user namespace from outside.
// So a pod that has either has a pause container.
func (r Runtime) forPod(config *runtime.PodSandboxConfig) Runtime {
	if !r.WithoutProcess() {
		return r
	}
	options := config.GetLinux().GetSecurityContext().GetNamespaceOptions()
	users := options.GetUsernsOptions()
	if options.GetPid() == runtime.NamespaceMode_POD || users != nil && users.GetMode() != runtime.NamespaceMode_NODE {
		r.Sandboxer = string(ModePodSandbox) // which also rejects other modes of user namespaces
	}
	return r
}
