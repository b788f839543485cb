// SPDX-License-Identifier: Apache-2.0

//go:build pins

package patches

// The upstream modules are edited and built, not imported. These imports keep
// go.mod, the only place that names their versions, from being tidied empty.
import (
	_ "github.com/containerd/containerd/v2/version"
	_ "github.com/containerd/go-cni"
	_ "github.com/containerd/nri/pkg/adaptation"
	_ "github.com/containernetworking/cni/libcni"
	_ "k8s.io/cri-api/pkg/apis/runtime/v1"
)
