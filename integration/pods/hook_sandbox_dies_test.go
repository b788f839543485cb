// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/conformance/cases"
	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// The conformance test's case, with the shim instead of the process.
func TestL5_PodFailsIfTheShimOfItsSandboxDiesInTheHook(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithNeeds(Patient))
	kill := func(pod InHook) error {
		pid, err := n.Shim(pod.ID)
		if err == nil {
			err = unix.Kill(pid, unix.SIGKILL)
		}
		return err
	}
	// The killed shim cannot remove its socket.
	cases.PodFailsIfItsSandboxDiesInTheHook(OnNode{T: t, Needs: Patient}, n, "shim", kill, RequireNothingLeftButSockets)
}
