// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"os"
	"os/exec"
)

// A host is what a system does to keep a plugin and what it starts together.
type host interface {
	// apart sets the plugin apart from the runtime, before it is started.
	apart(*exec.Cmd)
	// awaitExit waits for the plugin to exit and leaves it to be reaped, so that
	// until then nobody else can have its id, nor that of its group. It returns
	// false at once where that cannot be done.
	awaitExit(*os.Process) bool
	// kill kills the plugin and what it started. It may be gone already.
	kill(*os.Process)
	// left returns the processes that have not ended of a plugin that was killed
	// and of what it started, as far as can be known.
	left(*os.Process) []int
	// answered tells of a plugin that was killed whether that came too late, as
	// far as can be known.
	answered(*os.ProcessState) bool
}

// alone is a host without process groups. The plugin's own process is killed, and
// os.Process keeps that from hitting another.
type alone struct{}

func (alone) apart(*exec.Cmd) {}

func (alone) awaitExit(*os.Process) bool { return false }

func (alone) kill(p *os.Process) { _ = p.Kill() }

func (alone) left(*os.Process) []int { return nil }

func (alone) answered(*os.ProcessState) bool { return false }
