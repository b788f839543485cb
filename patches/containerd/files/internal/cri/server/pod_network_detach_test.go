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

// notes has the plugin note what it got, and fail: what is attached would be
// kept in libcni's own folder.
const notes = `test $CNI_COMMAND = STATUS && exit
echo "$CNI_ARGS" > $CNI_COMMAND.args; cat > $CNI_COMMAND.stdin
` + agentIsDown

// What a DEL gets from here is what the ADD got through go-cni.
func TestAttachedPodIsAsItWasAttached(t *testing.T) {
	c, dir := withNetwork(t, notes)
	config := &runtime.PodSandboxConfig{
		Metadata:     &runtime.PodSandboxMetadata{Name: "web", Namespace: "shop", Uid: "uid"},
		Annotations:  map[string]string{"kubernetes.io/ingress-bandwidth": "1M", "a": "b"},
		PortMappings: []*runtime.PortMapping{{HostPort: 8080, ContainerPort: 80}, {ContainerPort: 81}},
		DnsConfig:    &runtime.DNSConfig{Servers: []string{"10.0.0.1"}, Searches: []string{"shop"}},
		Linux:        &runtime.LinuxPodSandboxConfig{CgroupParent: "/kubepods/web"},
	}
	plugin := c.netPlugin[defaultNetworkPlugin]
	opts, err := cniNamespaceOpts("id", config)
	require.NoError(t, err)
	_, err = plugin.Setup(t.Context(), "id", "/run/netns/web", opts...)
	require.ErrorContains(t, err, "agent is down")

	sandbox := sandboxstore.Sandbox{Metadata: sandboxstore.Metadata{ID: "id", Config: config}}
	err = c.detachPod(t.Context(), plugin, sandbox, "/run/netns/web", opts...)
	require.ErrorContains(t, err, "agent is down")

	args := func(command string) []string {
		text, err := os.ReadFile(filepath.Join(dir, command+".args"))
		require.NoError(t, err)
		return slices.Sorted(slices.Values(strings.Split(strings.TrimSpace(string(text)), ";")))
	}
	stdin := func(command string) (config map[string]any) {
		text, err := os.ReadFile(filepath.Join(dir, command+".stdin"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &config))
		return config
	}
	assert.Equal(t, args("ADD"), args("DEL"))
	assert.Equal(t, stdin("ADD"), stdin("DEL"))
	assert.Len(t, stdin("DEL")["runtimeConfig"], 5)
}

func TestLetGo(t *testing.T) {
	c, _ := withNetwork(t, "")
	sandbox := sandboxstore.Sandbox{Metadata: sandboxstore.Metadata{ID: "none", Config: &runtime.PodSandboxConfig{}}}
	assert.NoError(t, c.detachPod(t.Context(), c.netPlugin[defaultNetworkPlugin], sandbox, ""))
}
