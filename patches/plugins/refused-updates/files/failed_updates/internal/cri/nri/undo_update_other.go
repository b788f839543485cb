// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

import "context"

// UndoUpdatePodSandboxResources does nothing: this platform has no NRI plugins.
func (*API) UndoUpdatePodSandboxResources(context.Context, string) {}

// UndoUpdateContainerResources does nothing: this platform has no NRI plugins.
func (*API) UndoUpdateContainerResources(context.Context, string, string) {}
