// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/conformance/cases"
	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// The case of the conformance test, with the shim in place of the process.
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
	// The shim cannot remove its socket any more.
	cases.PodFailsIfItsSandboxDiesInTheHook(OnNode{T: t, Needs: Patient}, n, "shim", kill, RequireNothingLeftButSockets)
}
