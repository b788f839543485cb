// SPDX-License-Identifier: Apache-2.0

// The tools that generate Go code from our .proto files: a compiler as a library, so that no protoc
// is needed, and the generator of the protobuf module.
module github.com/hookline-nri/hookline/hack/tools/proto

go 1.26.6

require (
	github.com/bufbuild/protocompile v0.14.1
	google.golang.org/protobuf v1.36.12
	k8s.io/cri-api v0.37.0
)

require (
	golang.org/x/net v0.57.0 // indirect
	golang.org/x/sync v0.22.0 // indirect
	golang.org/x/sys v0.47.0 // indirect
	golang.org/x/text v0.40.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260526163538-3dc84a4a5aaa // indirect
	google.golang.org/grpc v1.82.1 // indirect
)

tool google.golang.org/protobuf/cmd/protoc-gen-go
