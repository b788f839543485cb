// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestADDComesFirstAfterOneThatFailed(t *testing.T) {
	var pace networkPace
	assert.True(t, pace.enter(), "nothing is known")
	pace.leave()
	down := errors.New("agent is down")
	pace.ended(t.Context(), down)
	assert.False(t, pace.enter())
	pace.ended(t.Context(), nil)
	assert.True(t, pace.enter())
	pace.leave()

	gone, leave := context.WithCancel(t.Context())
	leave()
	pace.ended(gone, context.Canceled)
	assert.True(t, pace.enter(), "its caller has gone")
}

func TestFewPauseContainersAreCreatedBesideTheirADD(t *testing.T) {
	var pace networkPace
	for range besideADDs {
		assert.True(t, pace.enter())
	}
	assert.False(t, pace.enter())
	assert.False(t, pace.enter(), "who was not let in holds no place")
	pace.leave()
	assert.True(t, pace.enter())
	assert.False(t, pace.enter())
}
