// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package nri

import "github.com/containerd/containerd/v2/internal/nri"

// NetworkGates returns none, because this platform has no NRI.
func (*API) NetworkGates() []nri.NetworkGate { return nil }
