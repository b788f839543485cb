// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADDComesFirstAfterOneThatFailed(t *testing.T) {
	const most = 1
	var pace networkPace
	assert.True(t, pace.enter(most), "no ADD has ended yet")
	pace.leave()
	down := errors.New("agent is down")
	pace.ended(t.Context(), down)
	assert.False(t, pace.enter(most))
	pace.ended(t.Context(), nil)
	assert.True(t, pace.enter(most))
	pace.leave()

	gone, leave := context.WithCancel(t.Context())
	leave()
	pace.ended(gone, context.Canceled)
	assert.True(t, pace.enter(most), "the caller canceled the ADD")
}

func TestFewPauseContainersAreCreatedBesideTheirADD(t *testing.T) {
	const most = 4
	var pace networkPace
	for range most {
		assert.True(t, pace.enter(most))
	}
	assert.False(t, pace.enter(most))
	assert.False(t, pace.enter(most), "a rejected ADD holds no place")
	pace.leave()
	assert.True(t, pace.enter(most))
	assert.False(t, pace.enter(most))
	pace.leave()
	assert.False(t, pace.enter(0), "it is switched off")
	assert.True(t, pace.enter(most))
}
