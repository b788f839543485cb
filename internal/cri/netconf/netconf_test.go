// SPDX-License-Identifier: Apache-2.0

package netconf

import (
	"testing"

	gocni "github.com/containerd/go-cni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestLoadedNetworks(t *testing.T) {
	const source = `{"cniVersion": "1.1.0", "name": "blue", "plugins": [{"type": "first"}, {"type": "second"}]}`
	cni, err := gocni.New(gocni.WithLoNetwork, gocni.WithConfListBytes([]byte(source)))
	require.NoError(t, err)
	config := cni.GetConfig()
	assert.Len(t, All(config), 2)
	pods := OfPods(config)
	require.Len(t, pods, 1)

	list := List(pods[0])
	assert.Equal(t, "blue", list.Name)
	assert.Equal(t, "1.1.0", list.CNIVersion)
	assert.Equal(t, source, string(list.Bytes))
	require.Len(t, list.Plugins, 2)
	assert.Equal(t, "second", list.Plugins[1].Network.Type)
	assert.JSONEq(t, `{"type": "second"}`, string(list.Plugins[1].Bytes))
}

func TestNothingIsLoaded(t *testing.T) {
	assert.Empty(t, All(nil))
	assert.Empty(t, OfPods(&gocni.ConfigResult{Networks: []*gocni.ConfNetwork{{IFName: "eth0"}}}), "it has no configuration")
}
