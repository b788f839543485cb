// SPDX-License-Identifier: Apache-2.0

package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

var (
	neverStarted = containerstore.Status{CreatedAt: 1}
	runsNow      = containerstore.Status{CreatedAt: 1, StartedAt: 2}
	hasExited    = containerstore.Status{CreatedAt: 1, StartedAt: 2, FinishedAt: time.Now().UnixNano()}
)

// A sandbox comes back ready if it was ready, or if another containerd had it since
// and ran containers in it, and only then.
func TestRecoveredPhase(t *testing.T) {
	const (
		ready    = sandboxstore.StateReady
		notReady = sandboxstore.StateNotReady
		unknown  = sandboxstore.StateUnknown
		creating = sandboxstore.PhaseCreating
		stopped  = sandboxstore.PhaseStopped
	)
	type statuses = []containerstore.Status
	for name, tc := range map[string]struct {
		phase      sandboxstore.Phase
		state      sandboxstore.State
		containers statuses
		become     sandboxstore.State
		keeps      sandboxstore.Phase
	}{
		"ready":                                {"", ready, statuses{runsNow}, ready, ""},
		"died":                                 {"", notReady, statuses{hasExited}, notReady, ""},
		"interrupted, runs":                    {creating, ready, nil, unknown, creating},
		"interrupted, never ran":               {creating, notReady, nil, unknown, creating},
		"interrupted, with a container":        {creating, ready, statuses{neverStarted}, ready, ""},
		"interrupted, a container has run":     {creating, ready, statuses{hasExited}, ready, ""},
		"interrupted, with a container, died":  {creating, notReady, statuses{hasExited}, notReady, ""},
		"stop sent, runs":                      {stopped, ready, statuses{hasExited}, unknown, stopped},
		"stop sent, no container ever started": {stopped, ready, statuses{neverStarted}, unknown, stopped},
		"stop sent, a container runs":          {stopped, ready, statuses{hasExited, runsNow}, ready, ""},
		"stopped and exited":                   {stopped, notReady, statuses{hasExited}, notReady, stopped},
		"stopped without containers":           {stopped, notReady, nil, notReady, stopped},
		"unreadable, runs":                     {"?", ready, nil, unknown, creating},
		"unreadable, with a container":         {"?", ready, statuses{runsNow}, ready, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTestCRIService()
			c.config.StateDir = t.TempDir()
			c.phases = c.openPhases()
			require.NoError(t, c.sandboxStore.Add(sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", Name: "pod"}, sandboxstore.Status{State: tc.state})))
			for i, status := range tc.containers {
				id := strings.Repeat("c", i+1)
				container, err := containerstore.NewContainer(containerstore.Metadata{ID: id, Name: id, SandboxID: "pod"}, containerstore.WithFakeStatus(status))
				require.NoError(t, err)
				require.NoError(t, c.containerStore.Add(container))
			}
			other, err := containerstore.NewContainer(containerstore.Metadata{ID: "other", Name: "other", SandboxID: "other"}, containerstore.WithFakeStatus(runsNow))
			require.NoError(t, err)
			require.NoError(t, c.containerStore.Add(other))
			if tc.phase != "" {
				require.NoError(t, c.phases.Enter("pod", tc.phase))
			}

			c.recoverPhases(t.Context())

			sb, err := c.sandboxStore.Get("pod")
			require.NoError(t, err)
			require.Equal(t, tc.become, sb.Status.Get().State)
			require.Equal(t, tc.keeps, sb.Status.Get().Phase)
			kept, _ := c.phases.Load()
			require.Equal(t, tc.keeps == "", kept["pod"] == "", "kept phases: %v", kept)
		})
	}
}

// A foreign file among the phases belongs to no sandbox, even if its name is a prefix of an id.
func TestAlienPhaseIsOfNoSandbox(t *testing.T) {
	c := newTestCRIService()
	c.config.StateDir = t.TempDir()
	c.phases = c.openPhases()
	require.NoError(t, c.sandboxStore.Add(sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "abcd", Name: "pod"}, sandboxstore.Status{State: sandboxstore.StateReady})))
	require.NoError(t, c.phases.Enter("ab", "notes"))
	require.NoError(t, os.Mkdir(filepath.Join(c.config.StateDir, phasesDir, "lost+found"), 0o700))

	c.recoverPhases(t.Context())

	sb, err := c.sandboxStore.Get("abcd")
	require.NoError(t, err)
	require.Equal(t, sandboxstore.StateReady, sb.Status.Get().State)
	kept, unreadable := c.phases.Load()
	require.Equal(t, map[string]sandboxstore.Phase{"ab": sandboxstore.PhaseUnreadable, "lost+found": sandboxstore.PhaseUnreadable}, kept, "foreign files are not removed")
	require.Len(t, unreadable, 2)
}
