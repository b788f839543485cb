// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/internal/peer"
)

// A plugin that its pod, service or container starts again comes from where it came from
// before.
func TestOrigin(t *testing.T) {
	of := func(w who, pid int) string { return originOf(connection{&plugin{who: w, pid: pid}}) }
	service := who{unit: "/system.slice/plugin.service"}
	require.Equal(t, of(service, 1), of(service, 2))
	require.NotEqual(t, of(service, 1), of(who{unit: "/system.slice/another.service"}, 1))
	pod := who{pod: peer.Pod{UID: "uid", Container: "a"}}
	require.Equal(t, of(pod, 1), of(who{pod: peer.Pod{UID: "uid", Container: "b"}}, 2))
	require.Equal(t, of(who{}, 1), of(who{}, 1))
	require.NotEqual(t, of(who{}, 1), of(who{}, 2))
	require.Empty(t, of(who{}, 0))
}
