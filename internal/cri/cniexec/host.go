// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"os"
	"os/exec"
)

// A host starts and kills a plugin together with the processes that it starts.
type host interface {
	// apart gives the plugin a group of its own, before it is started.
	apart(*exec.Cmd)
	// awaitExit waits for the plugin to exit without reaping it, so that no other
	// process or group can get its id yet. It returns false at once on systems without that.
	awaitExit(*os.Process) bool
	// kill kills the plugin and the processes that it started. It may be gone already.
	kill(*os.Process)
	// left returns the ids of those processes of a killed plugin that have not ended, as far
	// as can be known.
	left(*os.Process) []int
	// answered reports whether a plugin had exited before it was killed, as far as can be
	// known.
	answered(*os.ProcessState) bool
}

// alone is a host without process groups. Only the plugin's own process is killed;
// os.Process makes sure that it is no other.
type alone struct{}

func (alone) apart(*exec.Cmd) {}

func (alone) awaitExit(*os.Process) bool { return false }

func (alone) kill(p *os.Process) { _ = p.Kill() }

func (alone) left(*os.Process) []int { return nil }

func (alone) answered(*os.ProcessState) bool { return false }
