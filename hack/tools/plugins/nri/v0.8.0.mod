// SPDX-License-Identifier: Apache-2.0

// NRI's sample plugins, built from their source over the NRI of that source (go build -modfile).
// The files beside this one are for the stub of other versions of NRI.
module github.com/hookline-nri/hookline/hack/tools/plugins/nri

go 1.21

require (
	github.com/containerd/log v0.1.0
	github.com/containerd/nri v0.8.0
	github.com/containernetworking/plugins v1.4.1
	github.com/containers/common v0.56.0
	github.com/opencontainers/runtime-spec v1.2.0
	github.com/sirupsen/logrus v1.9.3
	github.com/vishvananda/netlink v1.2.1-beta.2
	sigs.k8s.io/yaml v1.4.0
)

require (
	github.com/containerd/ttrpc v1.2.6-0.20240827082320-b5cd6e4b3287 // indirect
	github.com/fsnotify/fsnotify v1.6.0 // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/protobuf v1.5.3 // indirect
	github.com/vishvananda/netns v0.0.4 // indirect
	golang.org/x/net v0.25.0 // indirect
	golang.org/x/sys v0.21.0 // indirect
	golang.org/x/text v0.15.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20240123012728-ef4313101c80 // indirect
	google.golang.org/grpc v1.62.0 // indirect
	google.golang.org/protobuf v1.34.1 // indirect
	k8s.io/cri-api v0.25.3 // indirect
)
