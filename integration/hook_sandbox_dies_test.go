// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
)

// The case of the conformance test, with the shim in place of the process.
func TestL5_PodFailsIfTheShimOfItsSandboxDiesInTheHook(t *testing.T) {
	t.Parallel()
	n := startNode(t, withNeeds(fixture.Patient))
	kill := func(pod inHook) error {
		pid, err := n.Shim(pod.ID)
		if err == nil {
			err = unix.Kill(pid, unix.SIGKILL)
		}
		return err
	}
	// The shim cannot remove its socket any more.
	cases.PodFailsIfItsSandboxDiesInTheHook(onNode{t, fixture.Patient}, n, "shim", kill, requireNothingLeftButSockets)
}
