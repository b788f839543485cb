// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
)

// The status shows the current event of a plugin, and the pod that waits for it.
func TestStatus(t *testing.T) {
	asked, answer := make(chan struct{}), make(chan error)
	l := &local{cfg: &Config{}}
	var err error
	l.nri, err = nri.New("test", "1", func(ctx context.Context, cb nri.SyncCB) error {
		_, err := cb(ctx, nil, nil)
		return err
	}, func(context.Context, []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) {
		return nil, nil
	}, nri.WithPluginPath(t.TempDir()), nri.WithDisabledExternalConnections(), nri.WithBuiltinPlugins(&builtin.BuiltinPlugin{
		Index: "10", Base: "holds",
		Handlers: builtin.BuiltinHandlers{RunPodSandbox: func(context.Context, *api.RunPodSandboxRequest) error {
			close(asked)
			return <-answer
		}},
	}))
	require.NoError(t, err)
	require.NoError(t, l.Start())
	defer l.Stop()

	ran := make(chan error, 1)
	go func() {
		ran <- l.nri.RunPodSandbox(context.Background(), &nri.RunPodSandboxRequest{Pod: &nri.PodSandbox{Id: "pod0"}})
	}()
	<-asked
	s := l.Status()
	require.True(t, s.Enabled)
	require.Len(t, s.Plugins, 1)
	p := s.Plugins[0]
	require.Equal(t, "10", p.Index)
	require.Equal(t, "holds", p.Name)
	require.True(t, p.Synchronized)
	require.Equal(t, []string{"RunPodSandbox"}, p.Subscriptions)
	require.Equal(t, 1, p.Pods)
	require.Equal(t, "RunPodSandbox", p.CurrentEvent.Event)
	require.Equal(t, "pod0", p.CurrentEvent.Pod)
	require.Nil(t, p.LastError)
	require.Equal(t, "10-holds", s.Waits["pod0"].Plugin)
	require.Empty(t, s.Waits["pod0"].Behind)

	answer <- errors.New("no room")
	require.Error(t, <-ran)
	s = l.Status()
	require.Nil(t, s.Plugins[0].CurrentEvent)
	require.Equal(t, "no room", s.Plugins[0].LastError.Message)
	require.Empty(t, s.Waits)
}

// Disabled NRI has a status, too, and its lists are empty, not null.
func TestStatusWithoutNRI(t *testing.T) {
	l, err := New(&Config{Disable: true}, nil)
	require.NoError(t, err)
	text, err := json.Marshal(l.Status())
	require.NoError(t, err)
	require.JSONEq(t, `{"enabled": false, "plugins": []}`, string(text))
}

// Times and durations are readable.
func TestSpan(t *testing.T) {
	var read map[string]string
	text, err := json.Marshal(NewSpan(time.Now().Add(-90 * time.Second)))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &read))
	_, err = time.Parse(time.RFC3339, read["since"])
	require.NoError(t, err)
	d, err := time.ParseDuration(read["duration"])
	require.NoError(t, err)
	require.GreaterOrEqual(t, d, 90*time.Second)
}
