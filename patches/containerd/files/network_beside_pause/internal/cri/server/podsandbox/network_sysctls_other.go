// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package podsandbox

import runtimespec "github.com/opencontainers/runtime-spec/specs-go"

// setNetworkSysctls has nothing to set: sysctls are of Linux.
func setNetworkSysctls(string, *runtimespec.Spec) error { return nil }
