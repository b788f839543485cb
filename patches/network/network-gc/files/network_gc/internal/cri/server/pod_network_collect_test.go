// SPDX-License-Identifier: Apache-2.0

//go:build linux

package server

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/go-cni"
	"github.com/stretchr/testify/require"
	bolt "go.etcd.io/bbolt"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/metadata"
	"github.com/containerd/containerd/v2/core/sandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/internal/cri/util"
	"github.com/containerd/containerd/v2/pkg/netns"
)

// withRecords gives a service records of sandboxes, and returns their database.
func withRecords(t *testing.T, c *criService, ids ...string) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "meta.db"), 0o600, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	records := metadata.NewSandboxStore(metadata.NewDB(db, nil, nil))
	c.client, err = containerd.New("", containerd.WithServices(containerd.WithSandboxStore(records)))
	require.NoError(t, err)
	for _, id := range ids {
		_, err := records.Create(util.NamespacedContext(), sandbox.Sandbox{ID: id, Runtime: sandbox.RuntimeOpts{Name: "runc"}})
		require.NoError(t, err)
	}
	return db
}

// If the setting is true, networks free invalid attachments at start.
func TestNetworksAreCollectedAtStart(t *testing.T) {
	for name, tc := range map[string]struct{ set, readable bool }{
		"set":                      {set: true, readable: true},
		"not set":                  {readable: true},
		"set, and nothing is read": {set: true},
	} {
		t.Run(name, func(t *testing.T) {
			c, dir := withNetwork(t, `test $CNI_COMMAND != GC || cat > gc`)
			// Another network than any on this machine.
			require.NoError(t, c.netPlugin[defaultNetworkPlugin].Load(cni.WithConfListBytes([]byte(
				`{"cniVersion": "1.1.0", "name": "collected-at-start", "plugins": [{"type": "plugin"}]}`))))
			c.config.NetworkGCOnStart = tc.set
			if db := withRecords(t, c, "pod"); !tc.readable {
				require.NoError(t, db.Close())
			}
			c.collectNetworks()
			ran := func() bool {
				content, err := os.ReadFile(filepath.Join(dir, "gc"))
				return err == nil && len(content) > 0
			}
			if tc.set && tc.readable {
				require.Eventually(t, ran, time.Minute, time.Millisecond)
				return
			}
			c.closeNetworks() // returns when nothing runs
			require.False(t, ran())
		})
	}
}

// Recorded and known sandboxes are valid. Sandboxes with an open network namespace are attached.
func TestPodsOfNetworks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a network namespace takes root")
	}
	c := newTestCRIService()
	withRecords(t, c, "recorded")
	for id, attached := range map[string]bool{"attached": true, "known": false, "closed": true} {
		sb := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: id}, sandboxstore.Status{})
		if attached {
			var err error
			sb.NetNS, err = netns.NewNetNS(t.TempDir())
			require.NoError(t, err)
			t.Cleanup(func() { _ = sb.NetNS.Remove() })
			sb.CNIResult = &cni.Result{}
		}
		if id == "closed" {
			require.NoError(t, sb.NetNS.Remove())
		}
		require.NoError(t, c.sandboxStore.Add(sb))
	}
	pods, err := c.podsOfNetworks(util.NamespacedContext())
	require.NoError(t, err)
	require.Equal(t, []string{"attached"}, pods.Attached)
	for _, id := range []string{"recorded", "attached", "known", "closed"} {
		require.True(t, pods.Valid(id), id)
	}
	require.False(t, pods.Valid("gone"))
}
