// SPDX-License-Identifier: Apache-2.0

package sandbox

import runtimespec "github.com/opencontainers/runtime-spec/specs-go"

// Shared is what a shim that makes a sandbox offers to the containers in it.
type Shared struct {
	// Namespaces are those that containers join if the sandbox has no process. Each has a path.
	Namespaces []runtimespec.LinuxNamespace
	// Files has files and folders on the host by their paths in a container.
	Files map[string]string
}
