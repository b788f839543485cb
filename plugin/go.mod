// SPDX-License-Identifier: Apache-2.0

// A module of its own, so that a plugin that requires it requires no containerd. The
// versions are the lowest with which it works: make unit tests it with them.
module github.com/hookline-nri/hookline/plugin

go 1.24.0

require (
	github.com/cenkalti/backoff/v5 v5.0.2
	github.com/containerd/nri v0.12.0
	github.com/containerd/ttrpc v1.2.7
	github.com/google/renameio/v2 v2.0.0
	github.com/hookline-nri/hookline/podstate v0.1.0
	github.com/stretchr/testify v1.10.0
	google.golang.org/grpc v1.57.1
	google.golang.org/protobuf v1.34.1
)

require (
	github.com/containerd/log v0.1.0 // indirect
	github.com/davecgh/go-spew v1.1.1 // indirect
	github.com/golang/protobuf v1.5.3 // indirect
	github.com/knqyf263/go-plugin v0.9.0 // indirect
	github.com/kr/text v0.2.0 // indirect
	github.com/opencontainers/runtime-spec v1.3.0 // indirect
	github.com/pmezard/go-difflib v1.0.0 // indirect
	github.com/sirupsen/logrus v1.9.3 // indirect
	github.com/tetratelabs/wazero v1.11.0 // indirect
	golang.org/x/mod v0.32.0 // indirect
	golang.org/x/sys v0.39.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20230731190214-cbb8c96f2d6d // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace github.com/hookline-nri/hookline/podstate => ../podstate
