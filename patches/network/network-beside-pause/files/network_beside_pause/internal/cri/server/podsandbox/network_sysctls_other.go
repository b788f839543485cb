// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package podsandbox

import (
	"context"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
)

// setNetworkSysctls sets nothing, because only Linux has sysctls.
func setNetworkSysctls(context.Context, string, *runtimespec.Spec) error { return nil }

// SetNetworkSysctls sets nothing, because only Linux has sysctls.
func SetNetworkSysctls(context.Context, string, map[string]string) error { return nil }

// CanSetNetworkSysctls returns true, because there are none to set.
func CanSetNetworkSysctls() bool { return true }
