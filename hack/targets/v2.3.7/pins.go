// SPDX-License-Identifier: Apache-2.0

//go:build pins

// Package pins keeps the versions that its go.mod pins from being tidied away.
package pins

import _ "github.com/containerd/containerd/v2/version"
