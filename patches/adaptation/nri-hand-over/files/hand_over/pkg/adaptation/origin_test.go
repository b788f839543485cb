// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/internal/peer"
)

// A plugin that its pod, service or container starts again has the same origin as before.
func TestOrigin(t *testing.T) {
	of := func(id identity, pid int) string { return originOf(connection{&plugin{identity: id, pid: pid}}) }
	service := identity{unit: "/system.slice/plugin.service"}
	require.Equal(t, of(service, 1), of(service, 2))
	require.NotEqual(t, of(service, 1), of(identity{unit: "/system.slice/another.service"}, 1))
	pod := identity{pod: peer.Pod{UID: "uid", Container: "a"}}
	require.Equal(t, of(pod, 1), of(identity{pod: peer.Pod{UID: "uid", Container: "b"}}, 2))
	require.Equal(t, of(identity{}, 1), of(identity{}, 1))
	require.NotEqual(t, of(identity{}, 1), of(identity{}, 2))
	require.Empty(t, of(identity{}, 0))
}
