// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"testing"

	"github.com/containerd/typeurl/v2"
	specs "github.com/opencontainers/runtime-spec/specs-go"
	"github.com/stretchr/testify/require"
)

// containerd reads the same from the encoding made here and from that of the type.
func TestSpecificationIsThatOfItsType(t *testing.T) {
	filled := &pod{
		bundle: "/bundle", files: "/files",
		config:     config{hostname: "web", sysctls: map[string]string{"kernel.shmmax": "1"}},
		own:        map[specs.LinuxNamespaceType]bool{specs.IPCNamespace: true},
		namespaces: []specs.LinuxNamespace{{Type: specs.NetworkNamespace, Path: "/net"}, {Type: specs.IPCNamespace, Path: "/ipc"}},
	}
	for name, p := range map[string]*pod{"filled": filled, "empty": {}} {
		want := &specs.Spec{
			Version:  specs.Version,
			Hostname: p.config.hostname,
			Mounts:   shared(p.files, p.bundle, p.own[specs.IPCNamespace]),
			Linux:    &specs.Linux{Namespaces: p.namespaces, Sysctl: p.config.sysctls},
		}
		encoded, err := p.spec()
		require.NoError(t, err)
		got, err := typeurl.UnmarshalAny(encoded)
		require.NoError(t, err)
		require.Equal(t, want, got, name)
	}
}
