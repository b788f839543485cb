// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Outlooks shows plugins, and what they receive.
type Outlooks interface {
	Plugins() ([]Plugin, error)
	OutlookOfPlugin(ctx context.Context, name string) (Outlook, error)
}

// A Plugin is one that is connected, disconnected or turned off.
type Plugin struct {
	Name             string // index and name
	State            string
	Since            time.Time
	Pods, Containers int // that it knows, if it is connected
	Events           int // that wait for it, or that it has missed
}

// An Outlook is what a plugin receives when it connects: Synchronize, then the ends that it has
// missed.
type Outlook struct {
	Plugin                 Plugin
	Pods, Containers       int           // in its Synchronize
	NewPods, NewContainers int           // those of them that it does not know
	Missed                 int           // ends
	Oldest                 []MissedEvent // the first of them, in order
}

// A MissedEvent is an end of a pod or container. Names are ids where a name is unknown.
type MissedEvent struct {
	Event, Namespace, Pod, Container string
}

const (
	plugins = "Plugins"
	outlook = "Outlook"
)

func init() {
	methods = append(methods,
		method(plugins, func(_ context.Context, n NRI, _ string) (proto.Message, error) {
			all, err := n.Plugins()
			return inJSON(all, err)
		}),
		method(outlook, func(ctx context.Context, n NRI, name string) (proto.Message, error) {
			o, err := n.OutlookOfPlugin(ctx, name)
			return inJSON(o, err)
		}),
	)
}

// Plugins calls Plugins over a connection.
func Plugins(ctx context.Context, conn grpc.ClientConnInterface) (all []Plugin, err error) {
	err = callJSON(ctx, conn, plugins, "", &all)
	return all, err
}

// OutlookOf calls OutlookOfPlugin over a connection.
func OutlookOf(ctx context.Context, conn grpc.ClientConnInterface, name string) (o Outlook, err error) {
	err = callJSON(ctx, conn, outlook, name, &o)
	return o, err
}
