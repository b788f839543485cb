// SPDX-License-Identifier: Apache-2.0

//go:build linux

package netattach

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gocni "github.com/containerd/go-cni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// load returns a configuration of go-cni with the loopback, and the lists from eth0 on.
func load(t *testing.T, lists ...string) *gocni.ConfigResult {
	t.Helper()
	var opts []gocni.Opt
	for _, list := range lists {
		opts = append(opts, gocni.WithConfListBytes([]byte(list)))
	}
	cni, err := gocni.New(append(opts, gocni.WithLoNetwork)...)
	require.NoError(t, err)
	config := cni.GetConfig()
	last := len(config.Networks) - 1
	config.Networks = slices.Concat(config.Networks[last:], config.Networks[:last])
	return config
}

// changed has the plugins of chain.
const changed = `{"cniVersion": "1.0.0", "name": "blue", "plugins": [{"type": "first", "note": "changed"}, {"type": "second"}]}`

const replaced = `{"cniVersion": "1.0.0", "name": "blue", "plugins": [{"type": "red"}]}`

func TestN3_KeptBeforeLoaded(t *testing.T) {
	for name, test := range map[string]struct {
		cached string
		loaded []string
		asked  []string
		want   Result
	}{
		"loaded as it was":        {chain, []string{chain}, []string{"second eth0", "first eth0"}, Result{Cached: 1}},
		"replaced":                {chain, []string{replaced}, []string{"second eth0", "first eth0"}, Result{Cached: 1, Replaced: 1}},
		"another network instead": {chain, []string{red}, []string{"second eth0", "first eth0"}, Result{Cached: 1, Replaced: 1}},
		"removed":                 {chain, nil, []string{"second eth0", "first eth0"}, Result{Cached: 1, Replaced: 1}},
		"nothing cached":          {"", []string{chain}, []string{"second eth0", "first eth0"}, Result{Loaded: 1}},
		"nothing at all":          {"", nil, nil, Result{}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "first", "second", "red", "loopback")
			if test.cached != "" {
				n.attach(test.cached, pod, "eth0")
			}
			result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, test.loaded...))
			assert.NoError(t, err)
			assert.Equal(t, test.want, result)
			assert.Equal(t, append(test.asked, "loopback lo"), n.asked())
			n.nothingKept()
		})
	}
}

func TestLoadedNetworkOfAnotherInterface(t *testing.T) {
	n := newNode(t, "first", "second", "red", "loopback")
	n.attach(chain, pod, "eth0")
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, chain, red)) // the ADD of red failed
	assert.NoError(t, err)
	assert.Equal(t, Result{Cached: 1, Loaded: 1}, result)
	assert.Equal(t, []string{"second eth0", "first eth0", "red eth1", "loopback lo"}, n.asked())
}

func TestArgumentsWithoutCachedAttachment(t *testing.T) {
	n := newNode(t, "first", "second", "loopback")
	_, err := n.cached().Detach(t.Context(), Pod{
		ID: pod, NetNS: netns,
		Args:           [][2]string{{"K8S_POD_NAME", "web"}},
		CapabilityArgs: map[string]any{"portMappings": []int{1}},
	}, load(t, chain))
	assert.NoError(t, err)
	second := n.requests()[0]
	assert.Equal(t, "K8S_POD_NAME=web", second.Args)
	assert.Equal(t, map[string]any{"portMappings": []any{1.0}}, second.Stdin.RuntimeConfig)
	assert.Empty(t, second.Stdin.PrevResult.IPs)
}

// A plugin failed its ADD, and now fails its DEL in some way: the others get theirs.
func TestN3_ChainWhoseADDFailed(t *testing.T) {
	loaded := load(t, chain)
	for name, test := range map[string]struct{ del, stuck, says string }{
		"fails":     {del: `echo '{"code": 7, "msg": "agent is down"}'; exit 1`, says: `network "blue", interface eth0 of 1f2e3d: DEL without a cached attachment: plugin type="second" failed (delete): agent is down`},
		"hangs":     {stuck: "second", says: "context deadline exceeded"},
		"not found": {del: `echo '{"code": 7, "msg": "rule not found"}'; exit 1`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNode(t, "first", "second", "loopback")
				n.plugin("second", test.del)
				n.stuck = test.stuck
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				result, err := n.cached().Detach(ctx, Pod{ID: pod, NetNS: netns}, loaded)
				assert.NoError(t, err, "there is nothing to try again")
				assert.Equal(t, []string{"second eth0", "first eth0", "loopback lo"}, n.asked())
				assert.Equal(t, 1, result.Loaded)
				if test.says == "" {
					assert.Empty(t, result.Abandoned)
					return
				}
				require.Len(t, result.Abandoned, 1)
				assert.ErrorContains(t, result.Abandoned[0], test.says)
			})
		})
	}
}

// The caller cancels before all plugins had their DEL.
func TestN3_ChainWhoseADDFailedWithoutACaller(t *testing.T) {
	n := newNode(t, "first", "second", "loopback")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result, err := n.cached().Detach(ctx, Pod{ID: pod, NetNS: netns}, load(t, chain))
	assert.ErrorIs(t, err, ErrAttached)
	assert.Empty(t, result.Abandoned)
}

// The cached attachment is lost: the DEL of the loaded networks is tried until it succeeds,
// unless it was done before. That of a pod that lost its namespace in a reboot is abandoned in
// the end.
func TestNothingKeptOfAnAttachedPod(t *testing.T) {
	for _, test := range []struct {
		pod                Pod
		again              bool
		ignored, abandoned int
	}{
		{Pod{NetNS: netns}, true, 0, 0},
		{Pod{NetNS: netns, Detached: true}, true, 0, 0},
		{Pod{}, true, 0, 0},
		{Pod{Overdue: true}, false, 0, 1},
		{Pod{Detached: true}, false, 1, 0},
	} {
		n := newNode(t, "first", "second", "loopback")
		n.plugin("second", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
		test.pod.ID, test.pod.Attached = pod, true
		result, err := n.cached().Detach(t.Context(), test.pod, load(t, chain))
		assert.Equal(t, test.again, errors.Is(err, ErrAttached), test.pod)
		assert.Len(t, result.Ignored, test.ignored, test.pod)
		assert.Len(t, result.Abandoned, test.abandoned, test.pod)
		assert.Equal(t, []string{"second eth0", "loopback lo"}, n.asked(), "the chain stays whole")
	}
}

// The pod was never on a network that was added after its ADD.
func TestNetworkAddedSince(t *testing.T) {
	n := newNode(t, "first", "second", "red", "loopback")
	n.attach(chain, pod, "eth0")
	n.plugin("red", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, chain, red))
	assert.NoError(t, err)
	assert.Len(t, result.Ignored, 1)
	assert.Empty(t, result.Abandoned)
	n.nothingKept()
}

// Another network is loaded, and the plugin of the former one fails for good. The DEL is
// abandoned in the end, and the cached attachment removed. A network whose configuration was
// changed is not another one.
func TestPluginOfAReplacedNetworkFails(t *testing.T) {
	for name, test := range map[string]struct {
		loaded    []string
		abandoned bool
	}{
		"nothing is loaded": {nil, false},
		"loaded as it was":  {[]string{chain}, false},
		"another is loaded": {[]string{red}, true},
		"changed":           {[]string{changed}, false},
		"beside another":    {[]string{red, changed}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "first", "second", "red", "loopback")
			n.attach(chain, pod, "eth0")
			n.plugin("second", `echo '{"code": 7, "msg": "agent is gone"}'; exit 1`)
			loaded := load(t, test.loaded...)
			_, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, loaded)
			require.ErrorIs(t, err, ErrAttached)
			result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true, Overdue: true}, loaded)
			if !test.abandoned {
				assert.ErrorIs(t, err, ErrAttached)
				assert.FileExists(t, n.file("blue", pod, "eth0"))
				return
			}
			assert.NoError(t, err)
			require.Len(t, result.Abandoned, 1)
			assert.ErrorContains(t, result.Abandoned[0], "agent is gone")
			n.nothingKept()
		})
	}
}

// The DEL fails with the configuration of the ADD, and succeeds with the one that was loaded
// under the same name later.
func TestChangedConfigurationGetsTheDEL(t *testing.T) {
	n := newNode(t, "first", "red", "loopback")
	n.plugin("second", "")
	n.attach(chain, pod, "eth0")
	require.NoError(t, os.Remove(filepath.Join(n.dir, "second")))
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, replaced))
	require.NoError(t, err)
	assert.Equal(t, []string{"red eth0", "loopback lo"}, n.asked())
	require.Len(t, result.Abandoned, 1)
	assert.ErrorContains(t, result.Abandoned[0], `failed to find plugin "second"`)
	n.nothingKept()
}

// The cached configuration cannot be read: the loaded network of its name gets the DEL.
func TestConfigurationThatCannotBeRead(t *testing.T) {
	n := newNode(t, "first", "second", "red", "loopback")
	n.attach(chain, pod, "eth0")
	text, err := os.ReadFile(n.file("blue", pod, "eth0"))
	require.NoError(t, err)
	var kept map[string]any
	require.NoError(t, json.Unmarshal(text, &kept))
	kept["config"] = []byte("{")
	text, err = json.Marshal(kept)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(n.file("blue", pod, "eth0"), text, 0o600))

	_, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, red))
	assert.ErrorIs(t, err, ErrAttached, "another is loaded")
	_, err = n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, chain))
	assert.NoError(t, err)
	assert.Contains(t, n.asked(), "first eth0")
}

// The binary of a plugin is missing. It may come back, such as when it is being installed, so
// its DEL is retried. If another network has replaced its own, its DEL is abandoned in the end,
// and the other plugins of the chain get theirs.
func TestBinaryIsMissing(t *testing.T) {
	for name, test := range map[string]struct {
		loaded    []string
		abandoned bool
	}{
		"nothing is loaded": {nil, false},
		"loaded as it was":  {[]string{chain}, false},
		"another is loaded": {[]string{red}, true},
		"changed":           {[]string{changed}, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "first", "second", "red", "loopback")
			n.attach(chain, pod, "eth0")
			require.NoError(t, os.Remove(filepath.Join(n.dir, "second")))
			loaded := load(t, test.loaded...)
			_, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, loaded)
			assert.ErrorIs(t, err, ErrAttached)
			assert.ErrorContains(t, err, `failed to find plugin "second"`)
			assert.FileExists(t, n.file("blue", pod, "eth0"))
			assert.NotContains(t, n.asked(), "first eth0", "the chain stays whole")
			result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true, Overdue: true}, loaded)
			if !test.abandoned {
				assert.ErrorIs(t, err, ErrAttached)
				assert.FileExists(t, n.file("blue", pod, "eth0"))
				return
			}
			assert.NoError(t, err)
			require.Len(t, result.Abandoned, 1)
			assert.ErrorContains(t, result.Abandoned[0], `failed to find plugin "second"`)
			assert.Contains(t, n.asked(), "first eth0")
			n.nothingKept()
		})
	}
}

// A loopback holds nothing.
func TestLoopbackFailsNoPod(t *testing.T) {
	n := newNode(t, "first", "second")
	n.attach(chain, pod, "eth0")
	result, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns, Attached: true}, load(t, chain))
	assert.NoError(t, err)
	assert.Empty(t, result.Abandoned)
	require.Len(t, result.Ignored, 1)
	assert.ErrorContains(t, result.Ignored[0], `failed to find plugin "loopback"`)
}

// A cached chain has one DEL: its plugins hold the address of the ADD, which may belong to
// another pod by the time the rest is tried again.
func TestChainThatIsKeptStaysWhole(t *testing.T) {
	n := newNode(t, "first", "second", "loopback")
	n.attach(chain, pod, "eth0")
	n.plugin("second", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
	_, err := n.cached().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, chain))
	assert.ErrorContains(t, err, "agent is down")
	assert.Equal(t, []string{"second eth0", "loopback lo"}, n.asked())
	assert.FileExists(t, n.file("blue", pod, "eth0"))
}
