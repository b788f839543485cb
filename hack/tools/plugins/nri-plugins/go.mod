// SPDX-License-Identifier: Apache-2.0

// Plugins of nri-plugins, with the dependencies of their release. Its module requires a module of
// its own repository that is not published. Plugins that need it, such as topology-aware and
// balloons, cannot be built from modules.
module github.com/hookline-nri/hookline/hack/tools/plugins/nri-plugins

go 1.26.0

tool (
	github.com/containers/nri-plugins/cmd/mpolset
	github.com/containers/nri-plugins/cmd/plugins/memory-policy
)

require github.com/containers/nri-plugins v0.14.0 // indirect

require (
	github.com/containerd/log v0.1.0 // indirect
	github.com/containerd/nri v0.11.0 // indirect
	github.com/containerd/ttrpc v1.2.7 // indirect
	github.com/intel/goresctrl v0.13.0 // indirect
	github.com/knqyf263/go-plugin v0.9.0 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/opencontainers/runtime-spec v1.3.0 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	github.com/tetratelabs/wazero v1.10.1 // indirect
	golang.org/x/sys v0.45.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260526163538-3dc84a4a5aaa // indirect
	google.golang.org/grpc v1.81.1 // indirect
	google.golang.org/protobuf v1.36.11 // indirect
	k8s.io/utils v0.0.0-20241104100929-3ea5e8cea738 // indirect
	sigs.k8s.io/yaml v1.4.0 // indirect
)

exclude github.com/containers/nri-plugins/pkg/topology v0.0.0
