// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
)

// While STATUS hangs, calls of Status do not ask again. That they do not wait is in
// conformance/cases.
func TestN1_HungStatusIsAskedOnce(t *testing.T) {
	t.Parallel()
	a := StartAgent(t, "status_timeout = '30s'")
	a.RequireNetworkReady(t)
	a.Says("STATUS", Hangs)
	a.RequireHangs()
	ctx, cancel := context.WithTimeout(WithinAMinute(t), 2*time.Second)
	defer cancel()
	var calls sync.WaitGroup
	for range 200 {
		calls.Go(func() { _, _ = a.NetworkCondition(ctx) })
	}
	calls.Wait()
	Promise(t, "N1", "STATUS is asked once for all calls", SometimesOnStock("each call asks"), func(t require.TestingT) {
		assert.Equal(t, 1, a.TimesHung())
	})
}
