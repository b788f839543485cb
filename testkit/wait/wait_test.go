// SPDX-License-Identifier: Apache-2.0

package wait_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/wait"
)

func TestUntilAsksAgain(t *testing.T) {
	asked := 0
	err := wait.Until(t.Context(), "the third time", func(context.Context) error {
		if asked++; asked < 3 {
			return errors.New("not yet")
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 3, asked)
}

func TestUntilReportsTheLastAnswer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	last := errors.New("two left")
	err := wait.Until(ctx, "an empty list", func(ctx context.Context) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return last
	})
	require.ErrorIs(t, err, last)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorContains(t, err, "wait for an empty list")
}

func TestUntilEndsAtOnceForGood(t *testing.T) {
	asked := 0
	err := wait.Until(t.Context(), "a dead process", func(context.Context) error {
		asked++
		return fmt.Errorf("%w: it exited", wait.ErrPermanent)
	})
	require.ErrorContains(t, err, "it exited")
	require.Equal(t, 1, asked)
}
