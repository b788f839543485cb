// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestNetworkIsNotWellAfterAnADDThatFailed(t *testing.T) {
	var pace networkPace
	assert.True(t, pace.isWell(), "nothing is known")
	down := errors.New("agent is down")
	pace.watch(t.Context())(down)
	assert.False(t, pace.isWell())
	pace.watch(t.Context())(nil)
	assert.True(t, pace.isWell())

	gone, leave := context.WithCancel(t.Context())
	leave()
	pace.watch(gone)(context.Canceled)
	assert.True(t, pace.isWell(), "its caller has gone")
}

func TestNetworkIsNotWellWhileAnADDIsSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pace networkPace
		first, second := pace.watch(t.Context()), pace.watch(t.Context())
		time.Sleep(slowADD / 2)
		assert.True(t, pace.isWell())
		time.Sleep(slowADD)
		synctest.Wait()
		assert.False(t, pace.isWell())
		first(nil)
		assert.False(t, pace.isWell(), "the second has not ended")
		second(nil)
		assert.True(t, pace.isWell())
	})
}
