// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"testing"

	specs "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
)

func TestSysctlsOfTheNodeAreRejected(t *testing.T) {
	all := map[specs.LinuxNamespaceType]bool{specs.IPCNamespace: true, specs.UTSNamespace: true, specs.NetworkNamespace: true}
	for name, path := range map[string]string{
		"net.ipv4.ip_forward":            "net/ipv4/ip_forward",
		"net/ipv4/conf/eth0.1/rp_filter": "net/ipv4/conf/eth0.1/rp_filter",
		"net.ipv4.conf.eth0/1.rp_filter": "net/ipv4/conf/eth0.1/rp_filter",
		"fs.mqueue.msg_max":              "fs/mqueue/msg_max",
		"kernel.sem":                     "kernel/sem",
		"kernel.semaphore":               "",
		"kernel.hostname":                "",
		"kernel.panic":                   "",
		"vm.swappiness":                  "",
		"net/../kernel/panic":            "",
		"net//ipv4":                      "",
		"/net/ipv4/ip_forward":           "",
		"net":                            "",
		"":                               "",
	} {
		sorted, err := sortSysctls(map[string]string{name: "1"}, all)
		if path == "" {
			require.Error(t, err, name)
			continue
		}
		require.NoError(t, err, name)
		found := false
		for _, values := range sorted {
			_, has := values[path]
			found = found || has
		}
		require.True(t, found, name)
	}
	_, err := sortSysctls(map[string]string{"net.ipv4.ip_forward": "1"}, map[specs.LinuxNamespaceType]bool{})
	require.ErrorContains(t, err, "network namespace of the pod's own")
}
