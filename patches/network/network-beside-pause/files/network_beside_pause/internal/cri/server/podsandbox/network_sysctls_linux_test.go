// SPDX-License-Identifier: Apache-2.0

package podsandbox

import (
	"os"
	"strings"
	"testing"

	cnins "github.com/containernetworking/plugins/pkg/ns"
	runtimespec "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/pkg/netns"
	"github.com/containerd/containerd/v2/pkg/testutil"
)

func TestSysctlsOfTheNetworkHoldWhateverWasDone(t *testing.T) {
	testutil.RequiresRoot(t)
	const port = "/proc/sys/net/ipv4/ip_unprivileged_port_start"
	ns, err := netns.NewNetNS(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, ns.Remove()) })
	in := func(do func() error) { require.NoError(t, ns.Do(func(cnins.NetNS) error { return do() })) }
	spec := &runtimespec.Spec{Linux: &runtimespec.Linux{Sysctl: map[string]string{
		"net.ipv4.ip_unprivileged_port_start": "80",
		"kernel.shm_rmid_forced":              "no number, and not set, because it belongs to another namespace",
	}}}

	chain := func() error {
		in(func() error { return os.WriteFile(port, []byte("1024"), 0o644) })
		return nil
	}
	require.NoError(t, BeforeStart(WithBeforeStart(t.Context(), chain), ns.GetPath(), spec))
	in(func() error {
		value, err := os.ReadFile(port)
		assert.Equal(t, "80", strings.TrimSpace(string(value)))
		return err
	})

	spec.Linux.Sysctl = map[string]string{"net/ipv4/no_such_thing": "1"}
	assert.ErrorContains(t, BeforeStart(WithBeforeStart(t.Context(), chain), ns.GetPath(), spec), "no_such_thing")
	require.NoError(t, BeforeStart(t.Context(), ns.GetPath(), spec), "no function was given")
}
