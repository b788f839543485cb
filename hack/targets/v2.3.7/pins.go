// SPDX-License-Identifier: Apache-2.0

//go:build pins

// Package pins imports a package of each module that its go.mod pins, so that go mod tidy keeps them.
package pins

import _ "github.com/containerd/containerd/v2/version"
