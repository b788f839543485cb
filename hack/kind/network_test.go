// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/containernetworking/cni/libcni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNetworkHasEachRangeOfItsNode(t *testing.T) {
	text, err := networkOf("10.244.1.0/24", "fd00:10:244:1::/64")
	require.NoError(t, err)
	conf, err := libcni.NetworkConfFromBytes([]byte(text))
	require.NoError(t, err)
	assert.Equal(t, "1.1.0", conf.CNIVersion, "so that STATUS is run")
	assert.JSONEq(t, `{"type": "ptp", "ipam": {
		"type": "host-local",
		"ranges": [[{"subnet": "10.244.1.0/24"}], [{"subnet": "fd00:10:244:1::/64"}]],
		"routes": [{"dst": "0.0.0.0/0"}, {"dst": "::/0"}]
	}}`, string(conf.Plugins[0].Bytes))
}

func TestRouteLeadsToTheAddressOfItsFamily(t *testing.T) {
	var n node
	n.name = "worker"
	n.Status.Addresses = []struct{ Type, Address string }{{"Hostname", "worker"}, {"InternalIP", "fc00::3"}, {"InternalIP", "172.18.0.3"}}
	for cidr, want := range map[string]string{"10.244.1.0/24": "172.18.0.3", "fd00:10:244:1::/64": "fc00::3"} {
		got, err := n.address(cidr)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	n.Status.Addresses = n.Status.Addresses[:2]
	_, err := n.address("10.244.1.0/24")
	require.EqualError(t, err, "node worker has no address of the family of 10.244.1.0/24")
}

// A cluster keeps the network that it was made with.
func TestClusterOfAnotherNetworkIsNotTaken(t *testing.T) {
	for made, other := range map[string]string{CNI: Bridge, Bridge: CNI} {
		m := Maker{Out: t.TempDir(), Network: Bridge}
		_, err := m.dropIns() // of an earlier cluster
		require.NoError(t, err)
		m.Network = made
		conf, err := m.dropIns()
		require.NoError(t, err)
		require.NoError(t, m.SameNetwork())
		m.Network = ""
		require.NoError(t, m.SameNetwork())
		m.Network = other
		require.ErrorContains(t, m.SameNetwork(), "its network is "+made)
		_, err = os.Stat(filepath.Join(conf, networkFile))
		require.Equal(t, made == Bridge, err == nil)
	}
}
