// SPDX-License-Identifier: Apache-2.0

//go:build linux

package netattach

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	green = `{"cniVersion": "1.1.0", "name": "green", "plugins": [{"type": "green"}]}`
	keeps = `{"cniVersion": "1.1.0", "name": "green", "disableGC": true, "plugins": [{"type": "green"}]}`
)

// alive returns pods that run, with these ids.
func alive(ids ...string) Pods {
	return Pods{Valid: func(id string) bool { return slices.Contains(ids, id) }, Attached: ids}
}

func TestCollect(t *testing.T) {
	n := newNode(t, "green", "old")
	for _, id := range []string{"here", "gone"} {
		n.attach(green, id, "eth0")
		n.attach(old, id, "eth1")
	}
	done, err := n.cached().Collect(t.Context(), load(t, green, old), alive("here"))
	require.NoError(t, err)
	assert.Equal(t, []Collected{{Network: "green", Valid: 1}}, done, "old has no GC")

	requests := n.requests()
	require.Len(t, requests, 2)
	assert.Equal(t, "DEL", requests[0].Command)
	assert.Equal(t, "gone", requests[0].Container)
	assert.Equal(t, "GC", requests[1].Command)
	assert.Equal(t, []attachment{{ContainerID: "here", IfName: "eth0"}}, requests[1].Stdin.Attachments)
	assert.FileExists(t, n.file("green", "here", "eth0"))
	assert.NoFileExists(t, n.file("green", "gone", "eth0"))
	assert.FileExists(t, n.file("old", "gone", "eth1"))
}

func TestCollectWithNothingKept(t *testing.T) {
	n := newNode(t, "green")
	done, err := n.cached().Collect(t.Context(), load(t, green), alive())
	require.NoError(t, err)
	assert.Equal(t, []Collected{{Network: "green"}}, done)
	require.Len(t, n.requests(), 1)
	assert.Equal(t, []attachment{}, n.requests()[0].Stdin.Attachments)
}

func TestCollectNotWanted(t *testing.T) {
	n := newNode(t, "green")
	n.attach(green, "gone", "eth0")
	_, err := n.cached().Collect(t.Context(), load(t, keeps), alive())
	require.NoError(t, err)
	assert.Empty(t, n.asked())
}

func TestCollectNotWhereItCannotRead(t *testing.T) {
	for name, text := range map[string]string{
		"cut":      `{"kind": "cniCa`,
		"another":  `{"ips": []}`,
		"nameless": `{"kind": "cniCacheV1"}`,
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "green")
			n.attach(green, "gone", "eth0")
			require.NoError(t, os.WriteFile(filepath.Join(n.cache, "results", "green-here-eth0"), []byte(text), 0o600))
			_, err := n.cached().Collect(t.Context(), load(t, green), alive("here"))
			assert.ErrorIs(t, err, errdefs.ErrFailedPrecondition)
			assert.ErrorContains(t, err, "green-here-eth0")
			assert.Empty(t, n.asked())
		})
	}
}

// Some cached attachments are missing.
func TestCollectNotWithoutAnAttachedPod(t *testing.T) {
	n := newNode(t, "green", "red")
	n.attach(green, "here", "eth0")
	n.attach(red, "here", "lo") // which has a file as well
	n.attach(green, "there", "eth0")
	require.NoError(t, os.Remove(n.file("green", "here", "eth0")))
	_, err := n.cached().Collect(t.Context(), load(t, green), alive("here", "there"))
	assert.ErrorIs(t, err, errdefs.ErrFailedPrecondition)
	assert.ErrorContains(t, err, "no cached attachment in "+filepath.Join(n.cache, "results")+" of here, which is attached")
	assert.Empty(t, n.asked())
}

// A network has replaced another one of its name.
func TestCollectDetachesWithTheConfigurationOfTheADD(t *testing.T) {
	n := newNode(t, "green", "other")
	n.attach(`{"cniVersion": "1.1.0", "name": "green", "plugins": [{"type": "other"}]}`, "gone", "eth0")
	done, err := n.cached().Collect(t.Context(), load(t, green), alive())
	require.NoError(t, err)
	assert.Equal(t, []Collected{{Network: "green"}}, done)
	assert.Equal(t, []string{"other eth0", "green "}, n.asked())
	n.nothingKept()
}

// An attachment that could not be detached stays cached, and valid for the plugins.
func TestCollectKeepsFailedAttachments(t *testing.T) {
	n := newNode(t, "green", "other")
	n.attach(`{"cniVersion": "1.1.0", "name": "green", "plugins": [{"type": "other"}]}`, "gone", "eth0")
	n.plugin("other", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
	done, err := n.cached().Collect(t.Context(), load(t, green), alive())
	require.NoError(t, err)
	require.Len(t, done, 1)
	assert.ErrorContains(t, done[0].Err, "DEL of gone, interface eth0: ")
	assert.ErrorContains(t, done[0].Err, "agent is down")
	assert.Equal(t, []attachment{{ContainerID: "gone", IfName: "eth0"}}, n.requests()[1].Stdin.Attachments)
	assert.FileExists(t, n.file("green", "gone", "eth0"))
}

// A DEL that hangs gets only a share of the time.
func TestCollectPastADELThatHangs(t *testing.T) {
	loaded := load(t, green)
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, "green", "other")
		n.attach(`{"cniVersion": "1.1.0", "name": "green", "plugins": [{"type": "other"}]}`, "hangs", "eth0")
		n.attach(green, "gone", "eth0")
		n.stuck = "other"
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		done, err := n.cached().Collect(ctx, loaded, alive())
		require.NoError(t, err)
		require.Len(t, done, 1)
		assert.ErrorContains(t, done[0].Err, "DEL of hangs, interface eth0: ")
		assert.ElementsMatch(t, []string{"other eth0", "green eth0", "green "}, n.asked())
		assert.NoError(t, ctx.Err())
	})
}

func TestCollectReportsFailures(t *testing.T) {
	n := newNode(t, "green")
	n.plugin("green", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
	done, err := n.cached().Collect(t.Context(), load(t, green), alive())
	require.NoError(t, err)
	require.Len(t, done, 1)
	assert.ErrorContains(t, done[0].Err, "agent is down")
}
