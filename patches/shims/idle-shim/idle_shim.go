// SPDX-License-Identifier: Apache-2.0

package idleshim

import "github.com/hookline-nri/hookline/internal/edit"

// IdleShim keeps containerd from taking a gRPC shim that serves for gone.
var IdleShim = edit.Patch{
	Slug:    "idle-shim",
	Module:  "containerd",
	Subject: "runtime: take a gRPC shim for gone only when it is",
	Body: `A shim that speaks gRPC is taken for gone less than a millisecond after it was
started, cleaned up after and forgotten: the end of its connection is told from
the connection's state idle, and a new gRPC client is idle until it is first
used. It becomes idle again when nobody has used it for half an hour.

Connect at once, begin to look for the end when that has been tried, and leave a
connection that is not used as it is.

ttrpc shims, such as runc's, Kata's and gVisor's, connect as before. A gRPC shim
is now connected before its start returns; one that takes no connection is
waited for within the time that loading a shim has, five seconds by default. A
gRPC server that closes unused connections by itself (MaxConnectionIdle, GOAWAY)
is still taken for gone when it does.`,
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
