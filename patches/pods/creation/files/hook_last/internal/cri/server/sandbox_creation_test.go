// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	containerd "github.com/containerd/containerd/v2/client"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// The exit of a sandbox fails its creation.
func TestExitFailsCreation(t *testing.T) {
	for name, tc := range map[string]struct {
		exit containerd.ExitStatus
		says string
	}{
		"exit": {*containerd.NewExitStatus(137, time.Now(), nil), "exited with status 137"},
		"lost": {*containerd.NewExitStatus(0, time.Now(), errors.New("shim is gone")), "shim is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			var creations sandboxstore.Creations
			creation := creations.Begin(sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{}))
			ctx := creation.Context(t.Context())
			exit := make(chan containerd.ExitStatus, 1)
			watch := failOnExit(creation, exit)

			exit <- tc.exit
			<-ctx.Done()
			require.ErrorContains(t, context.Cause(ctx), tc.says)
			require.ErrorIs(t, context.Cause(ctx), errdefs.ErrUnavailable)
			require.Equal(t, tc.exit, <-watch.end())
			watch.end()
		})
	}
}

// An exit before or after the end of the watch is passed on, and no watch outlives a creation.
func TestExitIsPassedOn(t *testing.T) {
	died := *containerd.NewExitStatus(137, time.Now(), nil)
	synctest.Test(t, func(t *testing.T) {
		var creations sandboxstore.Creations
		creation := creations.Begin(sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{}))
		ctx := creation.Context(t.Context())
		exit := make(chan containerd.ExitStatus, 1)
		watch := failOnExit(creation, exit)
		require.NoError(t, creation.Seal(ctx))
		exit <- died
		synctest.Wait()
		require.Equal(t, died, <-watch.end())
		require.NoError(t, ctx.Err(), "the exit was too late to fail the creation")

		later := failOnExit(creation, exit)
		passed := later.end()
		exit <- died
		require.Equal(t, died, <-passed)
	})
}
