// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWithGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		parent, giveUp := context.WithCancel(t.Context())
		ctx, done := withGrace(parent, time.Second)
		defer done()
		giveUp()
		time.Sleep(time.Second - 1)
		synctest.Wait()
		require.NoError(t, ctx.Err())
		time.Sleep(1)
		synctest.Wait()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	})
}

func TestWithGraceEndsWhenDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, done := withGrace(t.Context(), time.Hour)
		done()
		require.ErrorIs(t, ctx.Err(), context.Canceled)
	})
}
