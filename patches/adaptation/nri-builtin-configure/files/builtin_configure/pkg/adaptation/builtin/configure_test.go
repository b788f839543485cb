// SPDX-License-Identifier: Apache-2.0

package builtin_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
)

// A handler that fails returns no response.
func TestConfigureFails(t *testing.T) {
	rejected := errors.New("no configuration")
	p := &builtin.BuiltinPlugin{Handlers: builtin.BuiltinHandlers{
		Configure: func(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error) { return nil, rejected },
	}}
	_, err := p.Configure(context.Background(), &api.ConfigureRequest{})
	require.ErrorIs(t, err, rejected)
}

// Without a response, the plugin subscribes to the events that it has handlers for.
func TestConfigureHasNoResponse(t *testing.T) {
	p := &builtin.BuiltinPlugin{Handlers: builtin.BuiltinHandlers{
		Configure:     func(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error) { return nil, nil },
		RunPodSandbox: func(context.Context, *api.RunPodSandboxRequest) error { return nil },
	}}
	rpl, err := p.Configure(context.Background(), &api.ConfigureRequest{})
	require.NoError(t, err)
	var events api.EventMask
	events.Set(api.Event_RUN_POD_SANDBOX)
	require.Equal(t, int32(events), rpl.GetEvents())
}
