// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// A shim whose answer takes a while.
func answers(after time.Duration, err error) func(context.Context, string) (string, error) {
	return func(ctx context.Context, in string) (string, error) {
		select {
		case <-time.After(after):
			return in, err
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func TestCallWithGrace(t *testing.T) {
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		patience, answer time.Duration
		fails, want      error
		takes            time.Duration
	}{
		"in time":                          {patience: 2 * time.Second, answer: time.Second, takes: time.Second},
		"fails":                            {patience: 2 * time.Second, answer: time.Second, fails: broken, want: broken, takes: time.Second},
		"caller timed out":                 {patience: time.Second, answer: 3 * time.Second, want: context.DeadlineExceeded, takes: 3 * time.Second},
		"caller timed out, then it failed": {patience: time.Second, answer: 3 * time.Second, fails: broken, want: context.DeadlineExceeded, takes: 3 * time.Second},
		"no answer":                        {patience: time.Second, answer: time.Hour, want: context.DeadlineExceeded, takes: 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tc.patience)
				defer cancel()
				began := time.Now()
				_, err := callWithGrace(ctx, 5*time.Second, "task", answers(tc.answer, tc.fails))
				assert.ErrorIs(t, err, tc.want)
				assert.Equal(t, tc.takes, time.Since(began))
			})
		})
	}
}

// The shim receives the caller's deadline.
func TestCallWithGraceSendsTheDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	callers, _ := ctx.Deadline()
	_, err := callWithGrace(ctx, time.Second, "task", func(ctx context.Context, _ string) (string, error) {
		shims, set := ctx.Deadline()
		assert.True(t, set)
		assert.Equal(t, callers, shims)
		return "", nil
	})
	assert.NoError(t, err)
}

func TestCallWithGraceBeginsNothingForACallerThatIsGone(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := callWithGrace(ctx, time.Second, "task", func(context.Context, string) (string, error) {
		assert.Fail(t, "it is called")
		return "", nil
	})
	assert.ErrorIs(t, err, context.Canceled)
}
