// SPDX-License-Identifier: Apache-2.0

//go:build linux

package server

import (
	"errors"
	"testing"
	"time"

	"github.com/containerd/go-cni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/containerd/v2/core/sandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// The time for which a DEL is retried continues over a restart.
func TestN3_PatienceOverARestart(t *testing.T) {
	c, _ := withNetwork(t, agentIsDown)
	store := withRecord(t, c, "none")
	metadata := sandboxstore.Metadata{ID: "none", Config: &runtime.PodSandboxConfig{}, CNIResult: &cni.Result{}}
	sb := sandboxstore.NewSandbox(metadata, sandboxstore.Status{})
	fail := func() {
		require.ErrorContains(t, c.detachPod(t.Context(), c.netPlugin[defaultNetworkPlugin], sb, "/run/netns/web"), "agent is down")
	}
	began := time.Now()
	fail()
	since := sb.Status.Get().DetachFailing
	assert.WithinRange(t, since, began, time.Now())
	fail()
	assert.Equal(t, since, sb.Status.Get().DetachFailing, "since the first failure")
	assert.Equal(t, []string{"extensions." + detachFailingKey}, store.written, "other updates write other parts of the record")

	recovered := sandboxstore.NewSandbox(metadata, sandboxstore.Status{})
	require.NoError(t, c.sandboxStore.Add(recovered))
	c.recoverDetachFailing(t.Context(), []sandbox.Sandbox{store.record, {ID: "another"}})
	assert.True(t, since.Equal(recovered.Status.Get().DetachFailing))
	assert.False(t, c.detachOverdue(&recovered))
	c.config.NetworkDelPatience = "10ms"
	assert.Eventually(t, func() bool { return c.detachOverdue(&recovered) }, 10*time.Second, time.Millisecond)

	never := sandboxstore.NewSandbox(metadata, sandboxstore.Status{})
	assert.False(t, c.detachOverdue(&never))
}

func TestN3_PatienceThatCannotBeRecorded(t *testing.T) {
	ctx, text := logged(t)
	c, _ := withNetwork(t, agentIsDown)
	store := withRecord(t, c, "none")
	store.fails = errors.New("disk is full")
	sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "none"}, sandboxstore.Status{})
	c.detachFailed(ctx, &sb)
	assert.False(t, sb.Status.Get().DetachFailing.IsZero())
	assert.Contains(t, text.String(), "disk is full")
}
