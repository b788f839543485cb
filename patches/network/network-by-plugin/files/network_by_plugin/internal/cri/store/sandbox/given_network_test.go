// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"encoding/json"
	"testing"

	cni "github.com/containerd/go-cni"
	"github.com/stretchr/testify/require"
)

// A network that a plugin gives is copied to other records of the sandbox and kept in them. A sandbox of CNI has
// the same record as before.
func TestGivenNetworkIsKept(t *testing.T) {
	given := &Metadata{ID: "pod", GivenNetwork: &GivenNetwork{Plugin: "net", Result: &cni.Result{Interfaces: map[string]*cni.Config{"eth0": {Mac: "02:00:00:00:00:07"}}}}}
	var copied Metadata
	copied.CopyNetwork(given)
	record, err := json.Marshal(&copied)
	require.NoError(t, err)
	var kept Metadata
	require.NoError(t, json.Unmarshal(record, &kept))
	require.Equal(t, given.GivenNetwork, kept.GivenNetwork)
	require.Equal(t, "02:00:00:00:00:07", kept.NetworkResult().Interfaces["eth0"].Mac)

	record, err = json.Marshal(&Metadata{ID: "pod", CNIResult: &cni.Result{}})
	require.NoError(t, err)
	require.NotContains(t, string(record), "GivenNetwork")
}
