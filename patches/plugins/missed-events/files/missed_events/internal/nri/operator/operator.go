// SPDX-License-Identifier: Apache-2.0

// Package operator is what an operator may ask of NRI on containerd's own socket. Its
// messages are well-known types, so that it needs no API of its own: it is ctr's, and as
// little stable as ctr is.
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

// NRI is what is asked.
type NRI interface {
	// ForgetPlugin drops what is kept for a plugin that is disconnected, by its index and name, and
	// returns how many ends it was owed.
	ForgetPlugin(name string) (ends int, err error)
}

// Serve has a server answer for NRI.
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

// Forget asks for ForgetPlugin.
func Forget(ctx context.Context, conn grpc.ClientConnInterface, name string) (ends int, err error) {
	var reply wrapperspb.Int64Value
	if err := conn.Invoke(ctx, "/"+service+"/"+forget, wrapperspb.String(name), &reply); err != nil {
		return 0, errgrpc.ToNative(err)
	}
	return int(reply.GetValue()), nil
}
