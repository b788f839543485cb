// SPDX-License-Identifier: Apache-2.0

//go:build linux

package server

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// An ADD has the same arguments as through go-cni.
func TestPodIsAttachedAsByGoCNI(t *testing.T) {
	const netns = "/run/netns/web"
	c, dir := withNetwork(t, `test $CNI_COMMAND = ADD || exit 0
echo "$CNI_ARGS;$CNI_CONTAINERID;$CNI_NETNS;$CNI_IFNAME;$CNI_PATH" > args; cat > stdin
`+agentIsDown)
	config := &runtime.PodSandboxConfig{
		Metadata:     &runtime.PodSandboxMetadata{Name: "web", Namespace: "shop", Uid: "uid"},
		Annotations:  map[string]string{"kubernetes.io/ingress-bandwidth": "1M", "a": "b"},
		PortMappings: []*runtime.PortMapping{{HostPort: 8080, ContainerPort: 80}, {ContainerPort: 81}},
		DnsConfig:    &runtime.DNSConfig{Servers: []string{"10.0.0.1"}, Searches: []string{"shop"}},
		Linux:        &runtime.LinuxPodSandboxConfig{CgroupParent: "/kubepods/web"},
	}
	asked := func() (args []string, stdin map[string]any) {
		text, err := os.ReadFile(filepath.Join(dir, "args"))
		require.NoError(t, err)
		args = slices.Sorted(slices.Values(strings.Split(strings.TrimSpace(string(text)), ";")))
		text, err = os.ReadFile(filepath.Join(dir, "stdin"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &stdin))
		require.NoError(t, os.Remove(filepath.Join(dir, "args")))
		return args, stdin
	}
	plugin := c.netPlugin[defaultNetworkPlugin]
	opts, err := cniNamespaceOpts("id", config)
	require.NoError(t, err)
	_, err = plugin.Setup(t.Context(), "id", netns, opts...)
	require.ErrorContains(t, err, "agent is down")
	args, stdin := asked()
	assert.Len(t, stdin["runtimeConfig"], 5)

	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config, NetNSPath: netns}, sandboxstore.Status{})
	for _, serially := range []bool{false, true} {
		c.config.NetworkPluginSetupSerially = serially
		_, err = c.attachPod(t.Context(), plugin, &sandbox, opts...)
		require.ErrorContains(t, err, "agent is down")
		ours, config := asked()
		assert.Equal(t, args, ours)
		assert.Equal(t, stdin, config)
	}
}
