// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"testing"

	"github.com/containerd/ttrpc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// relayed is the plugin's answer to a request.
func relayed(p *plugin, kind lifecycle.Kind, req any) (any, error) {
	switch r := req.(type) {
	case *CreateContainerRequest:
		req = &newContainer{request: r}
	case *UpdateContainerRequest:
		req = &changedContainer{request: r}
	}
	return connection{p}.relay(context.Background(), lifecycle.Event{Kind: kind, Request: req})
}

// The types that wrap a request while plugins are asked neither change its size nor hide its
// pod and container.
func TestRequestIsThatOfItsContainer(t *testing.T) {
	pod, ctr := &PodSandbox{Id: "pod", Uid: "uid"}, &Container{Id: "ctr", Env: []string{"a=b"}}
	created := &CreateContainerRequest{Pod: pod, Container: ctr}
	changed := &UpdateContainerRequest{Pod: pod, Container: ctr}
	started := &StartContainerRequest{Pod: pod, Container: ctr}
	for request, sent := range map[any]interface{ SizeVT() int }{
		&newContainer{request: created}:     created,
		&changedContainer{request: changed}: changed,
		started:                             started,
	} {
		ev := lifecycle.Event{Request: request}
		require.Equal(t, sent.SizeVT(), weigh(ev), "%T", request)
		ofPod, of := subject(ev)
		require.Equal(t, pod, ofPod, "%T", request)
		require.Equal(t, ctr, of, "%T", request)
	}
}

// Only an error after which a connection is of no use means that it is lost.
func TestBrokenConnections(t *testing.T) {
	external := connection{&plugin{impl: &pluginType{ttrpcImpl: &dummyPlugin{}}}}
	builtin := connection{&plugin{impl: &pluginType{builtinImpl: &dummyPlugin{}}}}
	broken := external.broken
	for _, err := range []error{fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), &net.OpError{Op: "write", Err: os.ErrDeadlineExceeded}} {
		require.ErrorIs(t, broken(err), lifecycle.ErrClosed)
		require.ErrorIs(t, broken(err), err)
		require.NotErrorIs(t, builtin.broken(err), lifecycle.ErrClosed, "it is the plugin's answer")
	}
	for _, err := range []error{ttrpc.ErrClosed, ttrpc.ErrServerClosed, fmt.Errorf("reading: %w", ttrpc.ErrProtocol)} {
		require.ErrorIs(t, broken(err), lifecycle.ErrClosed)
		require.ErrorIs(t, broken(err), err)
	}
	for _, err := range []error{
		context.DeadlineExceeded, context.Canceled, fmt.Errorf("rejected"),
		status.Error(codes.Unavailable, "rejected"), ttrpc.OversizedMessageError(5 << 20),
	} {
		require.NotErrorIs(t, broken(err), lifecycle.ErrClosed)
	}
}

// The policy of a connection is the one that its plugin registered.
func TestPolicyOfAPlugin(t *testing.T) {
	p := &plugin{impl: &pluginType{ttrpcImpl: &dummyPlugin{}}}
	require.Equal(t, lifecycle.Policy{}, connection{p}.Policy())
	p.policy = &FailurePolicy{FailRequest: true, KeepConnected: true}
	require.Equal(t, lifecycle.Policy{FailRequest: true, KeepConnected: true}, connection{p}.Policy())
	p.impl = &pluginType{builtinImpl: &dummyPlugin{}}
	require.True(t, connection{p}.Policy().Permanent)
}

// A connection registers one plugin.
func TestSecondRegistrationIsRejected(t *testing.T) {
	p := &plugin{r: &Adaptation{}, regC: make(chan error, 1), impl: &pluginType{ttrpcImpl: &dummyPlugin{}}}
	_, err := p.RegisterPlugin(context.Background(), &api.RegisterPluginRequest{PluginName: "first", PluginIdx: "10"})
	require.NoError(t, err)
	_, err = p.RegisterPlugin(context.Background(), &api.RegisterPluginRequest{PluginName: "second", PluginIdx: "20"})
	require.ErrorContains(t, err, "has registered a plugin")
	require.Equal(t, "10-first", p.name())
}
