// SPDX-License-Identifier: Apache-2.0

//go:build linux

package server

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/containerd/go-cni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// notes has the plugin record its input, and fail: an attachment would be cached in
// libcni's own folder.
const notes = `test $CNI_COMMAND = STATUS && exit
echo "$CNI_ARGS" > $CNI_COMMAND.args; cat > $CNI_COMMAND.stdin
` + agentIsDown

// A DEL has the arguments that the ADD had through go-cni.
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

	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "id", Config: config}, sandboxstore.Status{CreatedAt: time.Now()})
	require.NoError(t, c.detachPod(t.Context(), plugin, sandbox, "/run/netns/web", opts...), "there is nothing to retry")

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

// The removal of a pod without a successful DEL logs the addresses that may have leaked.
func TestRemovedWithoutDel(t *testing.T) {
	for name, tc := range map[string]struct {
		script                string
		attached, interrupted bool
		path                  string
		warning               string
	}{
		"nothing cached, nothing loaded": {attached: true, path: "/run/netns/web", warning: "it has no cached attachment, and no network is loaded"},
		"nothing cached, network loaded": {script: "exit 0", attached: true, path: "/run/netns/web", warning: "DEL went to the loaded network, which may be another"},
		"ADD and DEL failed":             {script: agentIsDown, path: "/run/netns/web", warning: "agent is down"},
		"creation interrupted":           {script: "exit 0", interrupted: true, path: "/run/netns/web", warning: "its creation was interrupted"},
		"creation interrupted, detached": {script: "exit 0", interrupted: true},
		"detached before":                {attached: true},
		"never attached":                 {path: "/run/netns/web"},
		"detached before, other's agent": {script: agentIsDown, attached: true},
		"ADD failed and DEL succeeded":   {script: "exit 0", path: "/run/netns/web"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, said := logged(t)
			c, _ := withNetwork(t, tc.script)
			sandbox := sandboxstore.Sandbox{Metadata: sandboxstore.Metadata{
				ID: "none", Name: "web_shop", IP: "10.1.2.3", Config: &runtime.PodSandboxConfig{},
			}}
			sandbox.Status = sandboxstore.StoreStatus(sandboxstore.Status{CreatedAt: time.Now(), Detached: tc.path == ""})
			if tc.attached {
				sandbox.CNIResult = &cni.Result{}
			}
			if tc.interrupted {
				sandbox.Status = sandboxstore.StoreStatus(sandboxstore.Status{CreatedAt: time.Now().Add(-time.Hour)})
			}
			require.NoError(t, c.detachPod(ctx, c.netPlugin[defaultNetworkPlugin], sandbox, tc.path))
			if tc.warning == "" {
				assert.Empty(t, said.String())
				return
			}
			assert.Contains(t, said.String(), "its addresses [10.1.2.3] may have leaked: ")
			assert.Contains(t, said.String(), tc.warning)
		})
	}
}

// The DEL of a pod without a cached attachment is retried, also if the pod lost its namespace in
// a boot.
func TestStillAttached(t *testing.T) {
	c, _ := withNetwork(t, agentIsDown)
	withRecord(t, c, "none")
	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "none", Config: &runtime.PodSandboxConfig{}, CNIResult: &cni.Result{}}, sandboxstore.Status{})
	for _, path := range []string{"/run/netns/web", ""} {
		err := c.detachPod(t.Context(), c.netPlugin[defaultNetworkPlugin], sandbox, path)
		assert.True(t, stillAttached(err), err)
		assert.ErrorContains(t, err, "agent is down")
	}
	assert.False(t, stillAttached(context.Canceled))
}
