// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/nri"
)

// statusOf stands in for NRI with a status.
type statusOf struct {
	undoRecorder
	status nri.Status
}

func (s *statusOf) Status() nri.Status { return s.status }

// A pod that is being created is shown by name, with the plugin that it waits for once
// its hook has begun.
func TestStatusShowsPodsBeingCreated(t *testing.T) {
	cri := newCreationCRI()
	wait := nri.WaitStatus{Plugin: "10-holds", Span: nri.NewSpan(time.Now())}
	a := NewAPI(&statusOf{status: nri.Status{
		Enabled: true,
		Plugins: []nri.PluginStatus{{Index: "10", Name: "holds"}},
		Waits:   map[string]nri.WaitStatus{"first": wait, "gone": wait},
	}}, cri)
	for _, id := range []string{"first", "second"} {
		cri.creations.Begin(sstore.NewSandbox(sstore.Metadata{ID: id, Config: &runtime.PodSandboxConfig{
			Metadata: &runtime.PodSandboxMetadata{Name: id + "-pod", Namespace: "default"},
		}}, sstore.Status{}))
	}

	s := a.Status()
	require.True(t, s.Enabled)
	require.Len(t, s.Plugins, 1)
	require.Len(t, s.PodsBeingCreated, 2)
	require.Equal(t, "first", s.PodsBeingCreated[0].ID)
	require.Equal(t, "default", s.PodsBeingCreated[0].Namespace)
	require.Equal(t, "first-pod", s.PodsBeingCreated[0].Name)
	require.Equal(t, &wait, s.PodsBeingCreated[0].WaitingFor)
	require.Equal(t, "second", s.PodsBeingCreated[1].ID)
	require.Nil(t, s.PodsBeingCreated[1].WaitingFor)
}

// Disabled NRI has a status, too.
func TestStatusOfDisabledNRI(t *testing.T) {
	var a *API
	text, err := json.Marshal(a.Status())
	require.NoError(t, err)
	require.JSONEq(t, `{"enabled": false, "plugins": [], "podsBeingCreated": []}`, string(text))
}
