// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/require"

	containerd "github.com/containerd/containerd/v2/client"
)

// A sandbox that dies during its hook does not become ready.
func TestSandboxThatExitsInItsHookFails(t *testing.T) {
	exit := make(chan containerd.ExitStatus, 1)
	require.NoError(t, exitedInHook(exit))
	for says, status := range map[string]*containerd.ExitStatus{
		"exited with status 137": containerd.NewExitStatus(137, time.Now(), nil),
		"shim is gone":           containerd.NewExitStatus(0, time.Now(), errors.New("shim is gone")),
	} {
		exit <- *status
		err := exitedInHook(exit)
		require.ErrorContains(t, err, says)
		require.ErrorIs(t, err, errdefs.ErrUnavailable)
	}
}
