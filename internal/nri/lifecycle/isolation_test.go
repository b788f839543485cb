// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A plugin that is busy with one pod holds up the end of another only if it
// is to be told of it. What it is not told is in its ledger all the same.
func TestL14_EndsWaitForNobodyWhoDidNotSubscribe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t)
		busy := newPlugin("10-busy").hang(RunPodSandbox)
		busy.wants = func(k Kind) bool { return k == RunPodSandbox || k == RemovePodSandbox }
		busy.keepConnected = true
		f.joined(busy)
		go f.ask(t.Context(), "RunPodSandbox:p1")
		synctest.Wait()
		go f.ask(t.Context(), "RunPodSandbox:p2") // in line behind p1
		synctest.Wait()

		start := time.Now()
		f.end("StopContainer:p3/c3")
		f.end("StopContainer:p3/c3") // as by its exit and by a request
		assert.Zero(t, time.Since(start), "waited for who did not subscribe")
		f.end("RemovePodSandbox:p4")
		assert.Equal(t, requestTimeout, time.Since(start), "did not wait for who did subscribe")
	})
}
