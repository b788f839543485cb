// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

func TestEndOfCreation(t *testing.T) {
	here := t.Context()
	gone, cancel := context.WithCancel(here)
	cancel()
	by := func(who string) error {
		return fmt.Errorf("wrapped: %w", &sandboxstore.Interruption{By: who, Err: errdefs.ErrAborted})
	}
	for reason, tc := range map[string]struct {
		caller context.Context
		err    error
	}{
		"stopped":     {here, by("stopped")},
		"removed":     {gone, by("removed")},
		"exited":      {here, by("exited")},
		"plugin":      {here, by("plugin")},
		"caller_gone": {gone, by("plugin")},
		"failed":      {here, errors.New("out of luck")},
	} {
		assert.Equal(t, reason, endOfCreation(tc.caller, tc.err), reason)
	}
	assert.ErrorIs(t, by("stopped"), errdefs.ErrAborted)
	assert.Equal(t, "wrapped: aborted", by("stopped").Error())
}

// The time of a hook is not in the measurement around it.
func TestLeftOut(t *testing.T) {
	start := time.Now()
	was := start
	const hook = 20 * time.Millisecond
	err := leftOut(t.Context(), &start, "StopPodSandbox", func(context.Context) error {
		<-time.After(hook)
		return errdefs.ErrUnavailable
	})
	assert.ErrorIs(t, err, errdefs.ErrUnavailable)
	assert.GreaterOrEqual(t, start.Sub(was), hook)
	assert.False(t, start.After(time.Now()))
}

func TestSandboxesBeingCreatedAreCollected(t *testing.T) {
	c := &creationCollector{count: beingCreated.count, oldest: beingCreated.oldest}
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(c))
	gauges := func() map[string]float64 {
		families, err := registry.Gather()
		require.NoError(t, err)
		values := map[string]float64{}
		for _, family := range families {
			values[family.GetName()] = family.GetMetric()[0].GetGauge().GetValue()
		}
		return values
	}
	assert.Empty(t, gauges(), "no service yet")

	var creations sandboxstore.Creations
	c.of(&creations)
	assert.Equal(t, map[string]float64{"containerd_cri_sandboxes_being_created": 0, "containerd_cri_sandboxes_being_created_oldest_seconds": 0}, gauges())
	began := time.Now()
	oldest := creations.Begin(sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "a"}, sandboxstore.Status{}))
	creations.Begin(sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "b"}, sandboxstore.Status{}))
	now := gauges()
	assert.EqualValues(t, 2, now["containerd_cri_sandboxes_being_created"])
	assert.Positive(t, now["containerd_cri_sandboxes_being_created_oldest_seconds"])
	assert.Less(t, now["containerd_cri_sandboxes_being_created_oldest_seconds"], time.Since(began).Seconds()+1)
	oldest.End()
	assert.EqualValues(t, 1, gauges()["containerd_cri_sandboxes_being_created"])
}
