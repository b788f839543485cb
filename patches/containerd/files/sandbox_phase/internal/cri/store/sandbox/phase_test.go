// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPhasesSurviveARestart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "phases")
	p, err := NewPhases(dir)
	require.NoError(t, err)
	require.NoError(t, p.Enter("cut", PhaseCreating))
	require.NoError(t, p.Enter("stopped", PhaseCreating))
	require.NoError(t, p.Enter("stopped", PhaseStopped))
	require.NoError(t, p.Enter("ready", PhaseCreating))
	require.NoError(t, p.Leave("ready"))
	require.NoError(t, p.Leave("ready"), "it is left already")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lost"), nil, 0o600))

	again, err := NewPhases(dir)
	require.NoError(t, err)
	phases, err := again.Load()
	require.NoError(t, err)
	require.Equal(t, map[string]Phase{"cut": PhaseCreating, "stopped": PhaseStopped, "lost": PhaseCreating}, phases)
}

func TestNilPhasesKeepNothing(t *testing.T) {
	var p *Phases
	require.NoError(t, p.Enter("pod", PhaseCreating))
	phases, err := p.Load()
	require.NoError(t, err)
	require.Empty(t, phases)
	require.NoError(t, p.Leave("pod"))
}
