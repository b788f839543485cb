// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// slowMemory takes a second until it is safe.
type slowMemory struct{ *memory }

func (m slowMemory) Sync() {
	time.Sleep(time.Second)
	m.memory.Sync()
}

// requireSafeFirst requires that teardowns end when the store is safe, and not before.
func requireSafeFirst(t *testing.T, ended ...<-chan error) {
	for _, e := range ended {
		require.Empty(t, e)
	}
	time.Sleep(time.Second)
	synctest.Wait()
	for _, e := range ended {
		require.Len(t, e, 1)
	}
}

// Two callers stop a pod at the same time, and the plugin is lost. Its missed end is safe before
// either caller goes on: the runtime may forget the pod after the first.
func TestL18_SecondTeardownWaitsUntilItIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.change = func(opts *Options) { opts.MissedEvents = slowMemory{o.memory} }
		o.start(t)
		a := newPlugin("10-a").hang(StopPodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1")
		first, second := o.ends("StopPodSandbox:p1"), o.ends("StopPodSandbox:p1")
		synctest.Wait()
		a.Close()
		synctest.Wait()
		requireSafeFirst(t, first, second)
	})
}

// Likewise if the plugin is overdue: the stored end is that of the second caller, too.
func TestL18_TeardownPastAnOverduePluginWaitsUntilItIsSafe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		o.change = func(opts *Options) { opts.MissedEvents = slowMemory{o.memory} }
		o.start(t)
		a, _ := frozen("10-a", UpdatePodSandbox)
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.did("UpdatePodSandbox:p1")
		first, second := o.ends("StopPodSandbox:p1"), o.ends("StopPodSandbox:p1")
		requireSafeFirst(t, first, second)
	})
}
