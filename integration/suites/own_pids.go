// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// ownPIDs serves a runtime's CRI at another socket. Pods and containers that ask for no mode have PID
// namespaces of their own there, as those of the kubelet do. CRI's default is one namespace for all
// containers of a pod, and suites leave it at that: they would try hardly any pod without a pause
// container.
func ownPIDs(socket, of string) (stop func() error, err error) {
	conn, err := grpc.NewClient("unix://"+of, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(untouched{}), grpc.MaxCallRecvMsgSize(maxMessage)))
	if err != nil {
		return nil, err
	}
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer(grpc.ForceServerCodec(untouched{}), grpc.MaxRecvMsgSize(maxMessage),
		grpc.UnknownServiceHandler(func(_ any, in grpc.ServerStream) error { return relay(conn, in) }))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	return func() error {
		server.Stop()
		return errors.Join(<-served, conn.Close())
	}, nil
}

// maxMessage is the size of the largest message, in bytes, as the kubelet has it.
const maxMessage = 16 << 20

// relay passes on a call. All requests of CRI are one message.
func relay(to *grpc.ClientConn, in grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(in)
	var message []byte
	if err := in.RecvMsg(&message); err != nil {
		return err
	}
	if err := withOwnPIDs(method, &message); err != nil {
		return err
	}
	ctx := in.Context()
	if with, ok := metadata.FromIncomingContext(ctx); ok {
		ctx = metadata.NewOutgoingContext(ctx, with)
	}
	out, err := to.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, method)
	if err != nil {
		return err
	}
	if err := errors.Join(out.SendMsg(&message), out.CloseSend()); err != nil {
		return err
	}
	for {
		switch err := out.RecvMsg(&message); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := in.SendMsg(&message); err != nil {
			return err
		}
	}
}

// withOwnPIDs changes a request that makes a pod or a container.
func withOwnPIDs(method string, message *[]byte) (err error) {
	var request proto.Message
	change := func(options **runtime.NamespaceOption) {
		if *options == nil {
			*options = &runtime.NamespaceOption{}
		}
		if (*options).Pid == runtime.NamespaceMode_POD {
			(*options).Pid = runtime.NamespaceMode_CONTAINER
		}
	}
	switch method {
	case runtime.RuntimeService_RunPodSandbox_FullMethodName:
		pod := &runtime.RunPodSandboxRequest{}
		if err := proto.Unmarshal(*message, pod); err != nil || pod.GetConfig() == nil {
			return err
		}
		if pod.Config.Linux == nil {
			pod.Config.Linux = &runtime.LinuxPodSandboxConfig{}
		}
		if pod.Config.Linux.SecurityContext == nil {
			pod.Config.Linux.SecurityContext = &runtime.LinuxSandboxSecurityContext{}
		}
		change(&pod.Config.Linux.SecurityContext.NamespaceOptions)
		request = pod
	case runtime.RuntimeService_CreateContainer_FullMethodName:
		container := &runtime.CreateContainerRequest{}
		if err := proto.Unmarshal(*message, container); err != nil || container.GetConfig() == nil {
			return err
		}
		if container.Config.Linux == nil {
			container.Config.Linux = &runtime.LinuxContainerConfig{}
		}
		if container.Config.Linux.SecurityContext == nil {
			container.Config.Linux.SecurityContext = &runtime.LinuxContainerSecurityContext{}
		}
		change(&container.Config.Linux.SecurityContext.NamespaceOptions)
		request = container
	default:
		return nil
	}
	*message, err = proto.Marshal(request)
	return err
}

// untouched is a codec for encoded messages.
type untouched struct{}

func (untouched) Name() string { return "proto" }

func (untouched) Marshal(v any) ([]byte, error) {
	message, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("%T is not an encoded message", v)
	}
	return *message, nil
}

func (untouched) Unmarshal(data []byte, v any) error {
	message, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T is not an encoded message", v)
	}
	*message = append((*message)[:0:0], data...)
	return nil
}
