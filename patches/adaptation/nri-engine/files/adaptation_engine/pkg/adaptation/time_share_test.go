// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/containerd/ttrpc"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
)

// informed is a plugin that keeps the metadata of UpdatePodSandbox.
func informed(index string, has *ttrpc.MD) *builtin.BuiltinPlugin {
	return &builtin.BuiltinPlugin{Base: "informed", Index: index, Handlers: builtin.BuiltinHandlers{
		Configure: func(context.Context, *api.ConfigureRequest) (*api.ConfigureResponse, error) {
			return &api.ConfigureResponse{}, nil
		},
		Synchronize: func(context.Context, *api.SynchronizeRequest) (*api.SynchronizeResponse, error) {
			return &api.SynchronizeResponse{}, nil
		},
		UpdatePodSandbox: func(ctx context.Context, _ *api.UpdatePodSandboxRequest) (*api.UpdatePodSandboxResponse, error) {
			*has, _ = ttrpc.GetMetadata(ctx)
			return &api.UpdatePodSandboxResponse{}, nil
		},
	}}
}

// If the caller has less time than the plugins together, each learns its share of it.
func TestPluginsLearnTheirShareOfTheTime(t *testing.T) {
	const patience = time.Hour
	nri.SetPluginRequestTimeout(2 * patience)
	t.Cleanup(func() { nri.SetPluginRequestTimeout(nri.DefaultPluginRequestTimeout) })
	var first, last ttrpc.MD
	list := func(ctx context.Context, cb nri.SyncCB) error { _, err := cb(ctx, nil, nil); return err }
	r := runtimeWith(t, t.TempDir(), list, nri.WithBuiltinPlugins(informed("10", &first), informed("20", &last)))
	pod := &api.PodSandbox{Id: "pod0"}
	require.NoError(t, r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: pod}))
	callers := ttrpc.MD{"namespace": {"k8s.io"}, "nri-time-share": {"1"}} // of a request before

	update := func(ctx context.Context) {
		_, err := r.UpdatePodSandbox(ttrpc.WithMetadata(ctx, callers), &api.UpdatePodSandboxRequest{Pod: pod})
		require.NoError(t, err)
		for _, md := range []ttrpc.MD{callers, first, last} {
			require.Equal(t, []string{"k8s.io"}, md["namespace"], "what the caller sends")
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	update(ctx)
	share, err := strconv.Atoi(first["nri-time-share"][0])
	require.NoError(t, err)
	require.InDelta(t, patience/2, time.Duration(share)*time.Millisecond, float64(time.Minute))
	require.NotContains(t, last, "nri-time-share", "it has all that is left")
	require.Equal(t, []string{"1"}, callers["nri-time-share"])

	update(context.Background())
	require.NotContains(t, first, "nri-time-share", "the caller has no deadline")
}
