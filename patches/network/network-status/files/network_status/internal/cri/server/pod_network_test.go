// SPDX-License-Identifier: Apache-2.0

//go:build linux

package server

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/go-cni"
	"github.com/containerd/log"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/containerd/go-cni/netstatus"
)

// withNetwork gives a service a network whose plugin runs the script. If the script is empty, the
// service has no network.
func withNetwork(t *testing.T, script string) (*criService, string) {
	t.Helper()
	dir := t.TempDir()
	plugin, err := cni.New(cni.WithPluginDir([]string{dir}), cni.WithPluginConfDir(dir))
	require.NoError(t, err)
	c := newTestCRIService()
	c.config.NetworkStatusGate = true
	c.config.NetworkStatusTimeout = "1h" // a plugin that hangs does so for as long as a test runs
	c.netPlugin = map[string]cni.CNI{defaultNetworkPlugin: plugin}
	require.NoError(t, c.watchNetworks())
	t.Cleanup(c.closeNetworks)
	if script != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "plugin"), []byte("#!/bin/sh\ncd "+dir+"\n"+script+"\n"), 0o755))
		require.NoError(t, c.netPlugin[defaultNetworkPlugin].Load(cni.WithConfListBytes([]byte(network))))
	}
	return c, dir
}

const (
	network = `{"cniVersion": "1.1.0", "name": "blue", "plugins": [{"type": "plugin", "capabilities":
		{"portMappings": true, "bandwidth": true, "dns": true, "cgroupPath": true, "io.kubernetes.cri.pod-annotations": true}}]}`
	agentIsDown = `echo '{"code": 50, "msg": "agent is down"}'; exit 1`
)

func judged(t *testing.T, c *criService) *runtime.RuntimeCondition {
	condition := &runtime.RuntimeCondition{Type: runtime.NetworkReady, Status: true}
	setNetworkCondition(t.Context(), c.netPlugin[defaultNetworkPlugin], condition)
	return condition
}

func TestNetworkReady(t *testing.T) {
	for name, tc := range map[string]struct {
		script, reason, message string
	}{
		"ready":          {script: "exit 0"},
		"not configured": {reason: "NetworkPluginNotReady", message: "cni plugin not initialized"},
		"50":             {script: agentIsDown, reason: "NetworkNotAvailable", message: `"blue" takes no pods (CNI error 50), since `},
		"51":             {script: `echo '{"code": 51, "msg": "no route"}'; exit 1`, reason: "NetworkDegraded", message: "no route"},
		"11":             {script: `echo '{"code": 11, "msg": "starting"}'; exit 1`, reason: "NetworkTryAgainLater", message: "starting"},
		"another":        {script: `echo '{"code": 7, "msg": "bad"}'; exit 1`, reason: "NetworkStatusError", message: "bad"},
		"garbage":        {script: "exit 3", reason: "NetworkStatusExecFailed", message: "exit status 3"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := withNetwork(t, tc.script)
			condition := judged(t, c)
			assert.Equal(t, tc.reason == "", condition.Status)
			assert.Equal(t, tc.reason, condition.Reason)
			assert.Contains(t, condition.Message, tc.message)
			info := c.networkInfos(t.Context())[defaultNetworkPlugin]
			assert.Equal(t, condition.Status, info.Ready)
			assert.False(t, info.Since.IsZero())
		})
	}
}

func TestEveryStateThatIsNotReadyHasAReason(t *testing.T) {
	for state := netstatus.Unknown; state <= netstatus.NotInitialized; state++ {
		assert.Equal(t, state.Ready(), networkReasons[state] == "", state)
	}
}

// The network of a handler is in a condition of its own.
func TestHandlerNetworkConditions(t *testing.T) {
	c, _ := withNetwork(t, agentIsDown)
	assert.Empty(t, c.handlerNetworkConditions(), "no handler has a network")

	other, _ := withNetwork(t, agentIsDown)
	c.netPlugin["kata"] = other.netPlugin[defaultNetworkPlugin]
	fine, _ := withNetwork(t, "exit 0")
	c.netPlugin["runc"] = fine.netPlugin[defaultNetworkPlugin]
	silent, dir := withNetwork(t, "mkfifo silent; read line < silent")
	c.netPlugin["youki"] = silent.netPlugin[defaultNetworkPlugin]
	require.Eventually(t, func() bool { // the plugin hangs
		_, err := os.Stat(filepath.Join(dir, "silent"))
		return err == nil
	}, 10*time.Second, time.Millisecond)

	require.Eventually(t, func() bool { return !c.handlerNetworkConditions()[0].GetStatus() }, 10*time.Second, time.Millisecond)
	conditions := c.handlerNetworkConditions()
	require.Len(t, conditions, 1)
	assert.Equal(t, "RuntimeHandlerNetworksReady", conditions[0].GetType())
	assert.Equal(t, "RuntimeHandlerNetworksNotReady", conditions[0].GetReason())
	assert.Regexp(t, `^runtime handler "kata": NetworkNotAvailable: network "blue" takes no pods .*: agent is down$`, conditions[0].GetMessage())

	delete(c.netPlugin, "kata")
	conditions = c.handlerNetworkConditions()
	require.Len(t, conditions, 1)
	assert.True(t, conditions[0].GetStatus())
	assert.Empty(t, conditions[0].GetReason()+conditions[0].GetMessage())
}

// The plugin that caused a transition is named once.
func TestL17_TransitionOfANetworkIsLogged(t *testing.T) {
	ctx, text := logged(t)
	o := networkObserver{of: "kata", log: log.G(ctx)}
	ready := netstatus.Status{State: netstatus.OK, Network: "blue"}
	down := netstatus.Status{State: netstatus.NotAvailable, Network: "blue", Plugin: "agent", Code: 50, Message: "agent is down"}
	o.Moved(ready, down)
	assert.Regexp(t, `^time=\S+ level=warning msg="network takes no pods: .*agent is down" before=ok network=blue networks=kata plugin=agent reason=NetworkNotAvailable state=not_available\n$`, text.String())
	text.Reset()
	o.Moved(down, ready)
	assert.Regexp(t, `^time=\S+ level=info msg="network takes pods" before=not_available network=blue networks=kata state=ok\n$`, text.String())
}

func TestAdmitToNetwork(t *testing.T) {
	pod := &runtime.PodSandboxConfig{Metadata: &runtime.PodSandboxMetadata{Name: "web", Namespace: "shop"}}
	onHost := &runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{
		NamespaceOptions: &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE},
	}}}
	c, _ := withNetwork(t, agentIsDown)

	err := c.admitToNetwork(t.Context(), pod, "")
	assert.ErrorIs(t, err, errdefs.ErrUnavailable)
	assert.ErrorContains(t, err, "pod shop/web needs the network: ")
	assert.ErrorContains(t, err, "agent is down")
	assert.ErrorIs(t, c.admitToNetwork(t.Context(), pod, "another"), errdefs.ErrUnavailable, "this handler has no network of its own")
	assert.NoError(t, c.admitToNetwork(t.Context(), onHost, ""))

	c.config.NetworkStatusGate = false
	assert.NoError(t, c.admitToNetwork(t.Context(), pod, ""))
}
