// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// The fields are those of CRI's own package.
func TestReadConfig(t *testing.T) {
	namespaces := &cri.NamespaceOption{Network: cri.NamespaceMode_NODE, Pid: cri.NamespaceMode_CONTAINER, Ipc: cri.NamespaceMode_NODE}
	whole := &cri.PodSandboxConfig{
		Metadata:    &cri.PodSandboxMetadata{Name: "pod"},
		Hostname:    "a-pod",
		DnsConfig:   &cri.DNSConfig{Servers: []string{"192.0.2.1", "192.0.2.2"}, Searches: []string{"a.example"}, Options: []string{"ndots:5"}},
		Annotations: map[string]string{"a": "b"},
		Linux: &cri.LinuxPodSandboxConfig{
			CgroupParent:    "/pods",
			Sysctls:         map[string]string{"kernel.sem": "1 2 3 4", "net.a": ""},
			SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: namespaces, Privileged: true},
		},
	}
	read := func(c *cri.PodSandboxConfig) config {
		wire, err := proto.Marshal(c)
		require.NoError(t, err)
		got, err := readConfig(wire)
		require.NoError(t, err)
		return got
	}
	require.Equal(t, config{
		hostname: "a-pod",
		dns:      &dns{servers: []string{"192.0.2.1", "192.0.2.2"}, searches: []string{"a.example"}, options: []string{"ndots:5"}},
		sysctls:  map[string]string{"kernel.sem": "1 2 3 4", "net.a": ""},
		cgroup:   "/pods",
		network:  ofNode, pid: 1, ipc: ofNode,
	}, read(whole))
	require.Equal(t, config{sysctls: map[string]string{}}, read(&cri.PodSandboxConfig{}))
	require.NotNil(t, read(&cri.PodSandboxConfig{DnsConfig: &cri.DNSConfig{}}).dns)

	needs := func(n *cri.NamespaceOption) error {
		c := read(&cri.PodSandboxConfig{Linux: &cri.LinuxPodSandboxConfig{SecurityContext: &cri.LinuxSandboxSecurityContext{NamespaceOptions: n}}})
		return c.needsProcess()
	}
	require.NoError(t, needs(namespaces))
	require.NoError(t, needs(&cri.NamespaceOption{Pid: cri.NamespaceMode_NODE, UsernsOptions: &cri.UserNamespace{Mode: cri.NamespaceMode_NODE}}))
	require.ErrorIs(t, needs(nil), errProcess, "CRI's default is a shared PID namespace")
	require.ErrorIs(t, needs(&cri.NamespaceOption{Pid: cri.NamespaceMode_CONTAINER, UsernsOptions: &cri.UserNamespace{}}), errProcess)
}

func TestMalformedConfigIsAnError(t *testing.T) {
	for name, wire := range map[string]string{
		"cut":                 "\x12\x05a",
		"hostname is number":  "\x10\x05",
		"linux is number":     "\x40\x05",
		"no field":            "\x00",
		"a mode is a message": "\x42\x06\x12\x04\x0a\x02\x0a\x00",
	} {
		_, err := readConfig([]byte(wire))
		require.Error(t, err, name)
	}
}

func FuzzReadConfig(f *testing.F) {
	f.Add([]byte("\x12\x05a-pod"))
	f.Fuzz(func(t *testing.T, wire []byte) {
		got, err := readConfig(wire)
		whole := &cri.PodSandboxConfig{}
		if err != nil || proto.Unmarshal(wire, whole) != nil {
			return
		}
		require.Equal(t, whole.GetHostname(), got.hostname)
		require.Equal(t, whole.GetDnsConfig().GetServers(), got.servers())
		require.Equal(t, uint64(whole.GetLinux().GetSecurityContext().GetNamespaceOptions().GetPid()), uint64(got.pid))
	})
}

func (c config) servers() []string {
	if c.dns == nil {
		return nil
	}
	return c.dns.servers
}
