// SPDX-License-Identifier: Apache-2.0

// Package operator serves an operator's requests to NRI on containerd's own socket. Its
// messages are well-known types, so it needs no API of its own. It is for ctr, and as
// unstable as ctr.
package operator

import (
	"context"

	"github.com/containerd/errdefs/pkg/errgrpc"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const service = "containerd.internal.nri.v1.Operator"

// NRI answers the requests.
type NRI interface {
	// ForgetPlugin drops the missed events of a disconnected plugin, by its index and name,
	// and returns how many there were.
	ForgetPlugin(name string) (ends int, err error)
}

// methods are the requests. Each has the index and name of a plugin.
var methods = []grpc.MethodDesc{
	method(forget, func(_ context.Context, n NRI, name string) (proto.Message, error) {
		ends, err := n.ForgetPlugin(name)
		return wrapperspb.Int64(int64(ends)), err
	}),
}

// Serve registers NRI's service with a server.
func Serve(s grpc.ServiceRegistrar, n NRI) {
	s.RegisterService(&grpc.ServiceDesc{ServiceName: service, HandlerType: (*NRI)(nil), Methods: methods}, n)
}

// method returns the method of a request.
func method(of string, answer func(context.Context, NRI, string) (proto.Message, error)) grpc.MethodDesc {
	serve := func(n any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
		name := &wrapperspb.StringValue{}
		if err := decode(name); err != nil {
			return nil, err
		}
		handle := func(ctx context.Context, _ any) (any, error) {
			reply, err := answer(ctx, n.(NRI), name.GetValue())
			if err != nil {
				return nil, errgrpc.ToGRPC(err)
			}
			return reply, nil
		}
		if intercept == nil {
			return handle(ctx, name)
		}
		return intercept(ctx, name, &grpc.UnaryServerInfo{Server: n, FullMethod: "/" + service + "/" + of}, handle)
	}
	return grpc.MethodDesc{MethodName: of, Handler: serve}
}

// call sends a request.
func call(ctx context.Context, conn grpc.ClientConnInterface, method, name string, reply proto.Message) error {
	if err := conn.Invoke(ctx, "/"+service+"/"+method, wrapperspb.String(name), reply); err != nil {
		return errgrpc.ToNative(err)
	}
	return nil
}

const forget = "Forget"

// Forget calls ForgetPlugin over a connection.
func Forget(ctx context.Context, conn grpc.ClientConnInterface, name string) (ends int, err error) {
	var reply wrapperspb.Int64Value
	err = call(ctx, conn, forget, name, &reply)
	return int(reply.GetValue()), err
}
