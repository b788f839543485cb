// SPDX-License-Identifier: Apache-2.0

//go:build linux

package netattach

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	chain = `{"cniVersion": "1.0.0", "name": "blue", "plugins": [
		{"type": "first", "note": "kept"}, {"type": "second", "capabilities": {"portMappings": true}}]}`
	red = `{"cniVersion": "1.0.0", "name": "red", "plugins": [{"type": "red"}]}`
	old = `{"cniVersion": "0.3.1", "name": "old", "plugins": [{"type": "old"}]}`
)

func TestN3_DELWithCachedAttachment(t *testing.T) {
	n := newNode(t, "first", "second")
	n.attach(chain, pod, "eth0")

	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.NoError(t, err)
	assert.Equal(t, Result{Cached: 1, Replaced: 1}, result)

	requests := n.requests()
	require.Len(t, requests, 2)
	for i, plugin := range []string{"second", "first"} {
		r := requests[i]
		assert.Equal(t, plugin, r.Plugin)
		assert.Equal(t, plugin, r.Stdin.Type)
		assert.Equal(t, "blue", r.Stdin.Name)
		assert.Equal(t, "1.0.0", r.Stdin.CNIVersion)
		assert.Equal(t, pod, r.Container)
		assert.Equal(t, netns, r.Netns)
		assert.Equal(t, "eth0", r.Interface)
		assert.Equal(t, "IgnoreUnknown=1;K8S_POD_NAME=web", r.Args)
		require.Len(t, r.Stdin.PrevResult.IPs, 1)
		assert.Equal(t, "10.1.2.3/24", r.Stdin.PrevResult.IPs[0].Address)
	}
	assert.Equal(t, "kept", requests[1].Stdin.Note)
	assert.Equal(t, map[string]any{"portMappings": []any{map[string]any{"hostPort": 8080.0}}}, requests[0].Stdin.RuntimeConfig)
	assert.Nil(t, requests[1].Stdin.RuntimeConfig)
	n.nothingKept()
}

func TestN3_LastAttachedFirst(t *testing.T) {
	n := newNode(t, "first", "second", "red", "old")
	n.attach(red, pod, "eth1")
	n.attach(old, pod, "eth2")
	n.attach(chain, pod, "eth0")

	result, err := n.cached().Detach(t.Context(), Pod{ID: pod}, nil)
	assert.NoError(t, err)
	assert.Equal(t, Result{Cached: 3, Replaced: 3}, result)
	assert.Equal(t, []string{"second eth0", "first eth0", "old eth2", "red eth1"}, n.asked())
	n.nothingKept()
}

func TestAttachedAtTheSameTime(t *testing.T) {
	n := newNode(t, "first", "second", "red")
	n.attach(chain, pod, "eth0")
	n.attach(red, pod, "eth1")
	require.NoError(t, os.Chtimes(n.file("blue", pod, "eth0"), n.clock, n.clock))
	_, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.NoError(t, err)
	assert.Equal(t, []string{"red eth1", "second eth0", "first eth0"}, n.asked())
}

func TestN3_DELThatFailsStopsNoOther(t *testing.T) {
	n := newNode(t, "first", "second", "red")
	n.attach(red, pod, "eth1")
	n.attach(chain, pod, "eth0")
	n.plugin("second", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)

	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.ErrorIs(t, err, ErrAttached)
	assert.ErrorContains(t, err, "DEL with the cached attachment "+n.file("blue", pod, "eth0")+`: plugin type="second" failed (delete): agent is down`)
	var answer *types.Error
	assert.ErrorAs(t, err, &answer)
	assert.Equal(t, Result{Cached: 2, Replaced: 2}, result)
	assert.Equal(t, []string{"second eth0", "red eth1"}, n.asked())

	n.plugin("second", "")
	result, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.NoError(t, err)
	assert.Equal(t, Result{Cached: 1, Replaced: 1}, result)
	n.nothingKept()
}

func TestAllFailuresAreReported(t *testing.T) {
	n := newNode(t, "first", "second", "red")
	n.attach(red, pod, "eth1")
	n.attach(chain, pod, "eth0")
	require.NoError(t, os.Remove(filepath.Join(n.dir, "second")))
	n.plugin("red", `echo 'file not found' >&2; exit 1`)
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod}, nil)
	assert.ErrorContains(t, err, `failed to find plugin "second"`)
	assert.ErrorContains(t, err, "file not found", "it is not a plugin's answer")
	assert.Equal(t, Result{Cached: 2, Replaced: 2}, result)
}

func TestNothingKept(t *testing.T) {
	for name, n := range map[string]*node{"ever": newNode(t), "of it": newNode(t, "first", "second")} {
		t.Run(name, func(t *testing.T) {
			if name == "of it" {
				n.attach(chain, "x"+pod, "eth0")
				n.attach(chain, pod+"x", "eth0")
				n.attach(chain, "pod-"+pod+"-1", "eth0")
			}
			result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
			assert.NoError(t, err)
			assert.Zero(t, result)
			assert.Empty(t, n.asked())
		})
	}
}

func TestNoContainerIsNotAny(t *testing.T) {
	n := newNode(t, "first", "second")
	n.attach(chain, pod, "eth0")
	_, err := n.cached().Detach(t.Context(), Pod{NetNS: netns}, nil)
	assert.ErrorIs(t, err, errdefs.ErrInvalidArgument)
	assert.Empty(t, n.asked())
}

func TestUnreadableIsReported(t *testing.T) {
	n := newNode(t, "first", "second", "red")
	n.attach(chain, pod, "eth0")
	n.attach(red, pod, "eth1")
	require.NoError(t, os.Truncate(n.file("blue", pod, "eth0"), 40))
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.NoError(t, err)
	assert.Equal(t, Result{Cached: 1, Replaced: 1, Unreadable: []string{n.file("blue", pod, "eth0")}}, result)
	n.nothingKept()

	require.NoError(t, os.RemoveAll(filepath.Join(n.cache, "results")))
	require.NoError(t, os.WriteFile(filepath.Join(n.cache, "results"), nil, 0o600))
	_, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, nil)
	assert.ErrorContains(t, err, "attachments of 1f2e3d: ")
	asked := len(n.asked())
	result, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, red))
	assert.NoError(t, err, "the loaded networks have to do")
	assert.Contains(t, n.asked()[asked:], "red eth0")
	assert.Equal(t, []string{filepath.Join(n.cache, "results")}, result.Unreadable)
	result, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.NoError(t, err, "an ADD that failed is not cached")
	assert.Equal(t, []string{filepath.Join(n.cache, "results")}, result.Unreadable)
}

// A runtime is killed while it writes a cached attachment. As long as the file exists, Collect
// frees nothing. It is removed with the pod.
func TestUnreadableGoesWithItsPod(t *testing.T) {
	n := newNode(t, "first", "second", "red")
	n.attach(red, pod, "eth1")
	files := []string{n.file("cni-loopback", pod, "lo"), n.file("blue", pod, "eth0")}
	for _, file := range files {
		require.NoError(t, os.WriteFile(file, nil, 0o600))
	}
	other := n.file("blue", "another", "eth0")
	require.NoError(t, os.WriteFile(other, nil, 0o600))

	n.plugin("red", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, red))
	require.ErrorIs(t, err, ErrAttached)
	assert.Equal(t, files[1:], result.Unreadable, "a loopback holds nothing")
	for _, file := range files {
		assert.FileExists(t, file, "the DEL is retried")
	}

	n.plugin("red", "")
	result, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, red))
	require.NoError(t, err)
	assert.Equal(t, files[1:], result.Unreadable)
	require.NoError(t, os.Remove(other), "it is of another pod")
	n.nothingKept()
}

func TestOnePluginWithoutAList(t *testing.T) {
	n := newNode(t, "first")
	config, err := libcni.NetworkPluginConfFromBytes([]byte(`{"cniVersion": "1.0.0", "name": "single", "type": "first"}`))
	require.NoError(t, err)
	_, err = n.cni.AddNetwork(t.Context(), config, &libcni.RuntimeConf{ContainerID: pod, NetNS: netns, IfName: "eth0"})
	require.NoError(t, err)
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.NoError(t, err)
	assert.Equal(t, Result{Cached: 1, Replaced: 1}, result)
	assert.Equal(t, []string{"first eth0"}, n.asked())
	n.nothingKept()
}

// TestPluginsInFilesOfTheirOwn has a network whose configuration names no plugins: libcni reads
// them from a folder beside it, and caches none of them.
func TestPluginsInFilesOfTheirOwn(t *testing.T) {
	n := newNode(t, "first")
	list := &libcni.NetworkConfigList{Name: "apart", CNIVersion: "1.1.0", Bytes: []byte(`{"cniVersion": "1.1.0", "name": "apart"}`)}
	plugin, err := libcni.NetworkPluginConfFromBytes([]byte(`{"type": "first"}`))
	require.NoError(t, err)
	list.Plugins = append(list.Plugins, plugin)
	_, err = n.cni.AddNetworkList(t.Context(), list, &libcni.RuntimeConf{ContainerID: pod, NetNS: netns, IfName: "eth0"})
	require.NoError(t, err)

	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.ErrorContains(t, err, "the plugins are not cached")
	assert.Equal(t, Result{Cached: 1, Replaced: 1}, result)
	assert.FileExists(t, n.file("apart", pod, "eth0"))

	n.plugin("loopback", "")
	_, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, red))
	assert.ErrorIs(t, err, ErrAttached)
	result, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Overdue: true}, load(t, red))
	assert.NoError(t, err)
	assert.Len(t, result.Abandoned, 1)
	n.nothingKept()
}

func TestNothingToDeleteIsSuccess(t *testing.T) {
	for name, test := range map[string]struct {
		netns, says string
		fails       bool
	}{
		"not found":         {netns, "interface not found", false},
		"no file, no netns": {"", "open: no such file or directory", false},
		"no file":           {netns, "open: no such file or directory", true},
		"another":           {"", "out of luck", true},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "first", "second")
			n.attach(chain, pod, "eth0")
			n.plugin("second", `echo '{"code": 999, "msg": "`+test.says+`"}'; exit 1`)
			result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: test.netns}, nil)
			assert.Equal(t, Result{Cached: 1, Replaced: 1}, result)
			if test.fails {
				assert.ErrorIs(t, err, ErrAttached)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, []string{"second eth0", "first eth0"}, n.asked(), "the rest of the chain holds something")
			n.nothingKept()
		})
	}
}

// A plugin that attaches pods to further networks detaches them from these, and removes their
// cached attachments.
func TestTakenAlongByAnother(t *testing.T) {
	n := newNode(t, "red", "first", "second")
	n.attach(red, pod, "eth1")
	n.attach(chain, pod, "eth0")
	n.plugin("first", `rm '`+n.file("red", pod, "eth1")+`'`)
	n.plugin("red", `echo '{"code": 7, "msg": "a second DEL"}'; exit 1`)
	_, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, nil)
	assert.NoError(t, err)
	assert.Equal(t, []string{"second eth0", "first eth0"}, n.asked())
}

const hangs = `mkfifo $DIR/silent 2>/dev/null; read line < $DIR/silent`

// A DEL that hangs leaves the others a part of the time.
func TestN3_DELThatHangsStopsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNode(t, "first", "second", "red", "old")
		n.attach(red, pod, "eth1")
		n.attach(old, pod, "eth2")
		n.attach(chain, pod, "eth0")
		n.stuck = "second"
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := n.cached().Detach(ctx, Pod{ID: pod, NetNS: netns}, nil)
		assert.ErrorIs(t, err, ErrAttached)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NoError(t, ctx.Err(), "the caller has time left")
		assert.Equal(t, []string{"second eth0", "old eth2", "red eth1"}, n.asked())
		assert.FileExists(t, n.file("blue", pod, "eth0"))
		assert.NoFileExists(t, n.file("red", pod, "eth1"))
	})
}

func TestDELThatHangsEndsWithItsCaller(t *testing.T) {
	n := newNode(t, "red")
	n.attach(red, pod, "eth0")
	n.plugin("red", hangs)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := n.cached().Detach(ctx, Pod{ID: pod, NetNS: netns}, nil)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.FileExists(t, n.file("red", pod, "eth0"))
}
