// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/core/runtime"
	"github.com/containerd/containerd/v2/pkg/namespaces"
)

func TestTaskIsDeletedOnceAtATime(t *testing.T) {
	m, err := NewShimManager(&ManagerConfig{})
	require.NoError(t, err)
	ctx := namespaces.WithNamespace(t.Context(), "one")
	unlock, err := m.lockTask(ctx, "task")
	require.NoError(t, err)

	impatient, cancel := context.WithCancel(ctx)
	cancel()
	_, err = m.lockTask(impatient, "task")
	assert.ErrorIs(t, err, context.Canceled)

	second := make(chan error, 1)
	go func() {
		unlock, err := m.lockTask(ctx, "task")
		if err == nil {
			unlock()
		}
		second <- err
	}()
	for _, other := range []struct{ namespace, task string }{{"one", "other"}, {"two", "task"}} {
		unlock, err := m.lockTask(namespaces.WithNamespace(t.Context(), other.namespace), other.task)
		require.NoError(t, err)
		unlock()
	}
	select {
	case <-second:
		assert.Fail(t, "the second has not waited")
	default:
	}
	unlock()
	assert.NoError(t, <-second)
}

// A deletion that waited finds no shim, rather than one whose connection is closed.
func TestDeletionThatHasWaitedFindsNoTask(t *testing.T) {
	m, err := NewShimManager(&ManagerConfig{})
	require.NoError(t, err)
	tasks := &TaskManager{manager: m}
	ctx := namespaces.WithNamespace(t.Context(), "one")
	_, err = tasks.Delete(t.Context(), "task")
	assert.ErrorContains(t, err, "namespace is required")

	unlock, err := m.lockTask(ctx, "task")
	require.NoError(t, err)
	impatient, cancel := context.WithCancel(ctx)
	cancel()
	_, err = tasks.Delete(impatient, "task")
	assert.ErrorContains(t, err, "wait for another deletion of task task")
	unlock()
	_, err = tasks.Delete(ctx, "task")
	assert.ErrorContains(t, err, "not found")
}

// received is a shim from which the exit of its task was received.
type received struct {
	ShimInstance
	exit *runtime.Exit
}

func (received) ID() string                        { return "task" }
func (received) Namespace() string                 { return "one" }
func (s received) taskDeleteResult() *runtime.Exit { return s.exit }

func TestDeletionThatHasWaitedReportsTheSameExit(t *testing.T) {
	m, err := NewShimManager(&ManagerConfig{})
	require.NoError(t, err)
	ctx := namespaces.WithNamespace(t.Context(), "one")
	exit := &runtime.Exit{Status: 7}
	assert.Nil(t, m.deletedMeanwhile(ctx, "task", nil))
	require.NoError(t, m.shims.Add(ctx, received{exit: exit}))
	assert.Nil(t, m.deletedMeanwhile(ctx, "task", received{exit: exit}), "the task still exists")
	m.shims.Delete(ctx, "task")
	assert.Equal(t, exit, m.deletedMeanwhile(ctx, "task", received{exit: exit}))
	assert.Nil(t, m.deletedMeanwhile(ctx, "task", received{}), "the first caller has not received it either")
}
