// SPDX-License-Identifier: Apache-2.0

// A module of its own, so that a plugin that requires it requires no containerd. The
// versions are the lowest with which it works: make unit tests it with them.
module github.com/hookline-nri/hookline/updates

go 1.21.0

require (
	// Earlier ones require a google.golang.org/genproto that has packages of what a later NRI
	// requires: the first go mod tidy of a plugin with both fails.
	github.com/containerd/nri v0.6.0
	github.com/stretchr/testify v1.8.0
	google.golang.org/protobuf v1.31.0
)

require (
	github.com/containerd/ttrpc v1.2.3-0.20231030150553-baadfd8e7956 // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/gogo/protobuf v1.3.2 // indirect
	github.com/golang/protobuf v1.5.3 // indirect
	github.com/opencontainers/runtime-spec v1.0.3-0.20220825212826-86290f6a00fb // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/sirupsen/logrus v1.8.1 // indirect
	golang.org/x/net v0.17.0 // indirect
	golang.org/x/sys v0.13.0 // indirect
	golang.org/x/text v0.13.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20230731190214-cbb8c96f2d6d // indirect
	google.golang.org/grpc v1.57.1 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
	k8s.io/cri-api v0.25.3 // indirect
)
