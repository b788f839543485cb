// SPDX-License-Identifier: Apache-2.0

//go:build linux

package podnet

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/cri/netattach"
)

func TestPodsWaitForTheCollection(t *testing.T) {
	n := newNode(t)
	n.load()
	n.attach("gone")

	n.plugin(`test $CNI_COMMAND = DEL && { ` + hang + `; }`)
	received := make(chan []netattach.Collected, 1)
	other := newNode(t)
	other.load()
	Collect(map[string]*Network{"default": n.net, "other": other.net}, time.Minute, noPods, func(name string, c []netattach.Collected, err error) {
		assert.NoError(t, err)
		if name == "default" {
			received <- c
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, one := range []*node{n, other} {
		_, err := one.net.Attach(ctx, netattach.Pod{ID: "early", NetNS: "/nowhere"}, false)
		assert.ErrorIs(t, err, context.Canceled)
		assert.NotContains(t, one.asked(), "early")
	}

	n.release()
	_, _ = n.net.Attach(t.Context(), netattach.Pod{ID: "web", NetNS: "/nowhere"}, false)
	assert.Equal(t, []netattach.Collected{{Network: "blue"}}, <-received)
	assert.Regexp(t, `(?s)ADD gone.*DEL gone.*GC.*ADD web`, n.asked())
}

func TestCollectionEndsInTime(t *testing.T) {
	n := newNode(t)
	n.load()
	n.attach("gone")
	n.plugin(`test $CNI_COMMAND = DEL && { ` + hang + `; }`)
	received := make(chan []netattach.Collected, 1)
	Collect(map[string]*Network{"default": n.net}, 100*time.Millisecond, noPods, func(_ string, c []netattach.Collected, _ error) { received <- c })
	collected := <-received
	require.Len(t, collected, 1)
	assert.ErrorIs(t, collected[0].Err, context.DeadlineExceeded)
}

// noPods are those of a runtime without pods.
var noPods = netattach.Pods{Valid: func(string) bool { return false }}
