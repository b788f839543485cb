// SPDX-License-Identifier: Apache-2.0

package idleshim

import "github.com/hookline-nri/hookline/internal/edit"

// IdleShim stops containerd from cleaning up running gRPC shims with an idle connection.
var IdleShim = edit.Patch{
	Slug:    "idle-shim",
	Module:  "containerd",
	Subject: "runtime: do not take an idle gRPC shim for one that has exited",
	Body: `containerd cleans up and forgets a shim that speaks gRPC less than a
millisecond after its start. It takes a connection in state idle for one
that has ended, and a new gRPC client is idle until its first use. It
becomes idle again after half an hour without use.

Connect at once, start to watch for the end after that attempt, and keep
unused connections from becoming idle.

ttrpc shims, such as runc's, Kata's and gVisor's, connect as before. A
gRPC shim is now connected before its start returns. If it accepts no
connection, the wait is bounded by the time for loading a shim, five
seconds by default. A gRPC server that closes unused connections by
itself (MaxConnectionIdle, GOAWAY) still counts as exited when it does.`,
	Refs:   []string{"containerd/containerd#8120", "containerd/containerd#10250"},
	Rules:  []string{"L5", "L22"},
	Status: edit.Upstream,
	Until:  "containerd does not call onClose for a gRPC shim whose connection is new or not used",
	Edits: []edit.Edit{
		dialGRPC.Replace(edit.Expr("grpc.NewClient(target, gopts...)"), "grpc.NewClient(target, append(gopts, grpc.WithIdleTimeout(0))...)"),
		dialGRPC.Before(edit.Stmt(edit.Define("done")), "awaitConnection(client)\n"),
	},
}

var dialGRPC = edit.In("core/runtime/v2/shim.go", edit.Func("grpcDialContext"))
