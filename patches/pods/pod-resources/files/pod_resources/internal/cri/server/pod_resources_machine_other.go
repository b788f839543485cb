// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package server

import "github.com/containerd/containerd/v2/internal/cri/podresources"

// thisMachine is not known on this platform.
func thisMachine() podresources.Machine { return podresources.Machine{} }
