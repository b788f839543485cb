// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// NetworkGates are none, as there is no NRI on this platform.
func (*API) NetworkGates() []nri.NetworkGate { return nil }
