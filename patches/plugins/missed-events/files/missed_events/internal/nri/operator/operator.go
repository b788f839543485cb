// SPDX-License-Identifier: Apache-2.0

// Package operator serves an operator's requests to NRI on containerd's own socket. Its
// messages are well-known types, so it needs no API of its own. It is for ctr, and as
// unstable as ctr.
package operator

import (
	"context"

	"github.com/containerd/errdefs/pkg/errgrpc"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

const (
	service = "containerd.internal.nri.v1.Operator"
	forget  = "Forget"
)

// NRI answers the requests.
type NRI interface {
	// ForgetPlugin drops the missed events of a disconnected plugin, by its index and name,
	// and returns how many there were.
	ForgetPlugin(name string) (ends int, err error)
}

// Serve registers NRI's service with a server.
func Serve(s grpc.ServiceRegistrar, n NRI) {
	s.RegisterService(&grpc.ServiceDesc{
		ServiceName: service,
		HandlerType: (*NRI)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: forget, Handler: serveForget}},
	}, n)
}

func serveForget(srv any, ctx context.Context, decode func(any) error, intercept grpc.UnaryServerInterceptor) (any, error) {
	name := &wrapperspb.StringValue{}
	if err := decode(name); err != nil {
		return nil, err
	}
	handle := func(context.Context, any) (any, error) {
		ends, err := srv.(NRI).ForgetPlugin(name.GetValue())
		if err != nil {
			return nil, errgrpc.ToGRPC(err)
		}
		return wrapperspb.Int64(int64(ends)), nil
	}
	if intercept == nil {
		return handle(ctx, name)
	}
	return intercept(ctx, name, &grpc.UnaryServerInfo{Server: srv, FullMethod: "/" + service + "/" + forget}, handle)
}

// Forget calls ForgetPlugin over a connection.
func Forget(ctx context.Context, conn grpc.ClientConnInterface, name string) (ends int, err error) {
	var reply wrapperspb.Int64Value
	if err := conn.Invoke(ctx, "/"+service+"/"+forget, wrapperspb.String(name), &reply); err != nil {
		return 0, errgrpc.ToNative(err)
	}
	return int(reply.GetValue()), nil
}
