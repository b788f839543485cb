// SPDX-License-Identifier: Apache-2.0

//go:build linux

package podcgroup

import (
	"testing"

	"github.com/containerd/typeurl/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
)

// A pod uses nothing before the cgroup of its containers exists.
func TestMetricsOfACgroup(t *testing.T) {
	for path, used := range map[string]bool{"": false, "/no-such-pod": false, "/": true} {
		m, err := Metrics("pod", path)
		require.NoError(t, err, path)
		require.Equal(t, "pod", m.GetID())
		metrics, err := typeurl.UnmarshalAny(m.GetData())
		require.NoError(t, err, path)
		require.Equal(t, used, proto.Size(metrics.(proto.Message)) > 0, path)
	}
}

// This is for any host: the folder of a cgroup of version 2 is looked at first.
func TestMissingCgroupOfVersion2(t *testing.T) {
	_, err := read2("/no-such-pod")
	require.True(t, isMissing(err), err)
}
