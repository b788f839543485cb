// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// In StopPodSandbox, the process of the sandbox and its network still exist.
func TestNriStopPodSandboxComesFirst(t *testing.T) {
	skipNriTestIfNecessary(t)

	var process int
	var network string
	found := make(chan error, 16) // the clean-up of the test stops the pod again
	tc := &nriTest{t: t, plugins: []*mockPlugin{{
		stopPodSandbox: func(*mockPlugin, *api.PodSandbox) error {
			found <- stillThere(process, network)
			return nil
		},
	}}}
	tc.setup()

	id := tc.runPod("pod")
	_, info, err := sbserverSandboxInfo(id)
	require.NoError(t, err)
	process, network = int(info.Pid), info.Metadata.NetNSPath
	require.NoError(t, stillThere(process, network), "before the pod is stopped")

	require.NoError(t, tc.runtime.StopPodSandbox(id))
	select {
	case err := <-found:
		assert.NoError(t, err, "in StopPodSandbox")
	case <-time.After(time.Minute):
		require.Fail(t, "the plugin has not received StopPodSandbox")
	}
	assert.Error(t, stillThere(process, network), "when the pod is stopped")
}

// stillThere fails if the process of a sandbox or its network namespace is gone.
func stillThere(process int, network string) error {
	if err := unix.Kill(process, 0); err != nil {
		return fmt.Errorf("process %d: %w", process, err)
	}
	if err := unix.Access(network, unix.F_OK); err != nil {
		return fmt.Errorf("network namespace %s: %w", network, err)
	}
	return nil
}
