// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// Switches turns plugins off and on.
type Switches interface {
	TurnOffPlugin(ctx context.Context, name string) (TurnedOff, error)
	TurnOnPlugin(ctx context.Context, name string) error
}

// TurnedOff is what turning off a plugin means.
type TurnedOff struct {
	WasConnected bool
	RequiredFor  []string // "pods", "containers" or both, if the settings require the plugin
}

const (
	turnOff = "TurnOff"
	turnOn  = "TurnOn"
)

func init() {
	methods = append(methods,
		method(turnOff, func(ctx context.Context, n NRI, name string) (proto.Message, error) {
			off, err := n.TurnOffPlugin(ctx, name)
			return inJSON(off, err)
		}),
		method(turnOn, func(ctx context.Context, n NRI, name string) (proto.Message, error) {
			return &emptypb.Empty{}, n.TurnOnPlugin(ctx, name)
		}),
	)
}

func inJSON(of any, err error) (proto.Message, error) {
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(of)
	return wrapperspb.Bytes(text), err
}

func callJSON(ctx context.Context, conn grpc.ClientConnInterface, method, name string, reply any) error {
	var text wrapperspb.BytesValue
	if err := call(ctx, conn, method, name, &text); err != nil {
		return err
	}
	return json.Unmarshal(text.GetValue(), reply)
}

// TurnOff calls TurnOffPlugin over a connection.
func TurnOff(ctx context.Context, conn grpc.ClientConnInterface, name string) (off TurnedOff, err error) {
	err = callJSON(ctx, conn, turnOff, name, &off)
	return off, err
}

// TurnOn calls TurnOnPlugin over a connection.
func TurnOn(ctx context.Context, conn grpc.ClientConnInterface, name string) error {
	return call(ctx, conn, turnOn, name, &emptypb.Empty{})
}
