// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestL20_NamesMatchWithAndWithoutTheirIndex(t *testing.T) {
	for _, tc := range []struct {
		required, connected string
		fails               bool
	}{
		{required: "must", connected: "10-must"},
		{required: "10-must", connected: "10-must"},
		{required: "10-must", connected: "20-must", fails: true},
		{required: "must", connected: "10-mustard", fails: true},
		{required: "b", connected: "10-a-b", fails: true},
		{required: "a-b", connected: "10-a-b"},
	} {
		t.Run(tc.required+" and "+tc.connected, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, requires(tc.required))
				f.joined(newPlugin(tc.connected))
				if !tc.fails {
					f.did("RunPodSandbox:p1")
					return
				}
				f.unmet(t.Context(), "RunPodSandbox:p1", tc.required)
			})
		})
	}
}

// Two required plugins are awaited at the same time, each with its own bound.
func TestL20_TwoRequiredPlugins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, func(o *Options) {
			o.Required = func(context.Context, Event) ([]Requirement, error) {
				return []Requirement{{Plugin: "patient", Wait: time.Minute}, {Plugin: "hasty", Wait: 20 * time.Second}}, nil
			}
		})
		start := time.Now()
		f.unmet(t.Context(), "RunPodSandbox:p1", "hasty")
		assert.Equal(t, 20*time.Second, time.Since(start))

		ran := f.asking("RunPodSandbox:p2")
		time.Sleep(15 * time.Second)
		f.joined(newPlugin("20-hasty"))
		time.Sleep(40 * time.Second)
		require.Empty(t, ran)
		f.joined(newPlugin("10-patient"))
		require.NoError(t, <-ran)
		require.NoError(t, f.end("StopPodSandbox:p2", "RemovePodSandbox:p2"))
	})
}

// The caller receives the reason before its time is over.
func TestL20_ErrorNamesTheDisconnectedPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, requires("must"))
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		start := time.Now()
		u := f.unmet(ctx, "RunPodSandbox:p1", "must")
		assert.Equal(t, 6*time.Second, time.Since(start), "a quarter is kept back for the roll back")
		assert.Equal(t, 6*time.Second, u.Waited)
		require.ErrorContains(t, u, "too little time is left before the caller's deadline")

		ctx, leave := context.WithCancel(t.Context())
		go func() { time.Sleep(time.Second); leave() }()
		err := f.ask(ctx, "RunPodSandbox:p2")
		require.ErrorIs(t, err, context.Canceled)
		require.NotErrorAs(t, err, &u)
		require.ErrorContains(t, err, "waiting for required plugin must")
	})
}

func TestL20_RequirementsCannotBeRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		unreadable := errors.New("no list")
		f := newFixture(t, func(o *Options) {
			o.Required = func(context.Context, Event) ([]Requirement, error) { return nil, unreadable }
		})
		p := newPlugin("10-a")
		f.joined(p)
		require.ErrorIs(t, f.ask(t.Context(), "RunPodSandbox:p1"), unreadable)
		assert.Equal(t, "Synchronize()", p.received())
		assert.Empty(t, f.Status().Creations)
	})
}
