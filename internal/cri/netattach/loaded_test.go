// SPDX-License-Identifier: Apache-2.0

//go:build linux

package netattach

import (
	"slices"
	"testing"

	gocni "github.com/containerd/go-cni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// load returns what go-cni has loaded: the loopback, and the lists from eth0 on.
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

const replaced = `{"cniVersion": "1.0.0", "name": "blue", "plugins": [{"type": "red"}]}`

func TestN3_KeptBeforeLoaded(t *testing.T) {
	for name, test := range map[string]struct {
		kept   string
		loaded []string
		asked  []string
		want   Result
	}{
		"loaded as it was":        {chain, []string{chain}, []string{"second eth0", "first eth0"}, Result{Kept: 1}},
		"replaced":                {chain, []string{replaced}, []string{"second eth0", "first eth0"}, Result{Kept: 1, Replaced: 1}},
		"another network instead": {chain, []string{red}, []string{"second eth0", "first eth0"}, Result{Kept: 1, Replaced: 1}},
		"removed":                 {chain, nil, []string{"second eth0", "first eth0"}, Result{Kept: 1, Replaced: 1}},
		"nothing kept":            {"", []string{chain}, []string{"second eth0", "first eth0"}, Result{Loaded: 1}},
		"nothing at all":          {"", nil, nil, Result{}},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, "first", "second", "red", "loopback")
			if test.kept != "" {
				n.attach(test.kept, pod, "eth0")
			}
			result, err := n.kept().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, test.loaded...))
			assert.NoError(t, err)
			assert.Equal(t, test.want, result)
			assert.Equal(t, test.want.Kept+test.want.Loaded == 0, result.Unknown())
			assert.Equal(t, append(test.asked, "loopback lo"), n.asked())
			n.nothingKept()
		})
	}
}

func TestLoadedNetworkOfAnotherInterface(t *testing.T) {
	n := newNode(t, "first", "second", "red", "loopback")
	n.attach(chain, pod, "eth0")
	result, err := n.kept().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, chain, red)) // the ADD of red failed
	assert.NoError(t, err)
	assert.Equal(t, Result{Kept: 1, Loaded: 1}, result)
	assert.Equal(t, []string{"second eth0", "first eth0", "red eth1", "loopback lo"}, n.asked())
}

func TestArgumentsOfWhatWasNotKept(t *testing.T) {
	n := newNode(t, "first", "second", "loopback")
	_, err := n.kept().Detach(t.Context(), Pod{
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

// A plugin failed its ADD, and fails its DEL: the others get theirs.
func TestN3_ChainWhoseADDFailed(t *testing.T) {
	n := newNode(t, "first", "second", "loopback")
	n.plugin("second", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
	result, err := n.kept().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, chain))
	assert.ErrorContains(t, err, `network "blue", interface eth0 of 1f2e3d: DEL with nothing kept of an ADD: plugin type="second" failed (delete): agent is down`)
	assert.Equal(t, Result{Loaded: 1, Failed: 1}, result)
	assert.Equal(t, []string{"second eth0", "second eth0", "first eth0", "loopback lo"}, n.asked())
}

// One that is kept is not taken apart: its plugins have the address of the ADD,
// which may be another's by the time the rest is tried again.
func TestChainThatIsKeptStaysWhole(t *testing.T) {
	n := newNode(t, "first", "second", "loopback")
	n.attach(chain, pod, "eth0")
	n.plugin("second", `echo '{"code": 7, "msg": "agent is down"}'; exit 1`)
	_, err := n.kept().Detach(t.Context(), Pod{ID: pod, NetNS: netns}, load(t, chain))
	assert.ErrorContains(t, err, "agent is down")
	assert.Equal(t, []string{"second eth0", "loopback lo"}, n.asked())
	assert.FileExists(t, n.file("blue", pod, "eth0"))
}
