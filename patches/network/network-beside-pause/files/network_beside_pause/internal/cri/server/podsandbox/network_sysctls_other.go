// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package podsandbox

import (
	"context"

	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
)

// setNetworkSysctls has nothing to set: sysctls are of Linux.
func setNetworkSysctls(context.Context, string, *runtimespec.Spec) error { return nil }

// CanSetNetworkSysctls tells that there are none that could not be set.
func CanSetNetworkSysctls() bool { return true }
