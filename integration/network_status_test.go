// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

func mkfifo(t *testing.T, path string) { require.NoError(t, unix.Mkfifo(path, 0o600)) }

// NetworkReady is the STATUS of the network, and says what of it.
func TestN1_StatusOfTheNetwork(t *testing.T) {
	const oneReason, waits = "one reason for all", "the call waits for the plugin"
	for name, s := range map[string]struct {
		script, reason, message, breaks string
	}{
		"cannot add":        {takesNone, "NetworkNotAvailable", "agent is down; no socket", oneReason},
		"degraded":          {degraded, "NetworkDegraded", "no route to the pods", oneReason},
		"try again":         {later, "NetworkTryAgainLater", "still starting", oneReason},
		"another error":     {fails, "NetworkStatusError", "out of luck", oneReason},
		"garbage":           {garbage, "NetworkStatusExecFailed", "panic: what?", oneReason},
		"hangs":             {hangs, "NetworkStatusTimeout", "no answer within 200ms", waits},
		"leaves grandchild": {grandchild + hangs, "NetworkStatusTimeout", "no answer within 200ms", waits},
		// It has answered, whoever still has its pipes.
		"answers and leaves grandchild": {grandchild + takesNone, "NetworkNotAvailable", "agent is down", waits},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, "status_timeout = '200ms'")
			a.requireNetworkReady(t)
			a.says("STATUS", s.script)
			stockBreaks(t, "N1", s.breaks, func(t require.TestingT) {
				a.requireNetworkNotReady(t, s.reason, s.message)
				a.says("STATUS", "")
				a.requireNetworkReady(t)
			})
		})
	}
}

func TestN1_NotConfigured(t *testing.T) {
	a := newAgent(t)
	a.unloadNetwork()
	a.requireNetworkNotReady(t, "NetworkPluginNotReady", "cni plugin not initialized")
	a.loadNetwork("green", "10.90.0.0/24")
	a.requireNetworkReady(t)
}

// A network that comes and goes.
func TestN1_StatusFlaps(t *testing.T) {
	a := newAgent(t)
	for range 5 {
		a.says("STATUS", takesNone)
		a.requireNetworkDown(t, "agent is down")
		a.says("STATUS", "")
		a.requireNetworkReady(t)
	}
	pod := a.runPod("after")
	a.requirePodEnds(t, pod)
	a.requireNoAddressTaken(t, "blue")
}

// While STATUS hangs, calls of Status are answered from what is kept.
func TestN1_HungStatusDelaysNoCall(t *testing.T) {
	a := newAgent(t, "status_timeout = '30s'")
	a.requireNetworkReady(t)
	a.says("STATUS", hangs)
	stockBreaks(t, "N1", "each call waits for the plugin", func(t require.TestingT) {
		a.requireHangs()
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		var calls sync.WaitGroup
		took := make([]time.Duration, 200)
		for i := range took {
			calls.Go(func() {
				began := time.Now()
				c, err := a.networkCondition(ctx)
				took[i] = time.Since(began)
				assert.NoError(t, err)
				assert.True(t, c.GetStatus(), "the answer before it")
			})
		}
		calls.Wait()
		assert.Less(t, slices.Max(took), 500*time.Millisecond, "whoever waits for an answer does so for a second")
		a.Logf("200 calls at once: the slowest took %s", slices.Max(took))
		assert.Equal(t, 1, a.timesHung())
	})
}

// timesHung is how many STATUS have been asked since the agent hangs.
func (a *agent) timesHung() int {
	a.Helper()
	text, err := os.ReadFile(filepath.Join(a.dir, "hangs"))
	require.NoError(a, err)
	return len(text)
}

// While STATUS hangs, pods come and go and the configuration is loaded again.
func TestN4_HungStatusDelaysNobody(t *testing.T) {
	a := newAgent(t, "status_timeout = '30s'")
	before := a.runPod("before")
	a.requireNetworkReady(t)
	a.says("STATUS", hangs)
	a.requireHangs()
	stockBreaks(t, "N4", "a reload waits for STATUS, and all else for the reload", func(t require.TestingT) {
		pod, err := a.tryRunPod(a.n.CRI().Pod("during"))
		require.NoError(t, err)
		a.writeConfig("10-net.conflist", a.networkConfig("green", "10.90.0.0/24"))
		requireSoon(t, "another network to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "green") })
		a.requirePodEnds(t, before)
		a.requirePodEnds(t, pod)
		a.requireNoAddressTaken(t, "blue", "green")
	})
}

// While STATUS fails no ADD is tried, and what needs no network goes on.
func TestN2_PodsAreRefusedWhileStatusFails(t *testing.T) {
	for name, s := range map[string]struct{ script, message, counted string }{
		"cannot add": {takesNone, "agent is down", `{code="50",network="blue",state="NotAvailable"}`},
		"hangs":      {hangs, "no answer within 200ms", `{code="0",network="blue",state="TimedOut"}`},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgent(t, "status_timeout = '200ms'")
			old := a.runPod("old")
			a.says("STATUS", s.script)
			c := a.n.CRI()
			stockBreaks(t, "N2", "the pod gets its ADD, or waits", func(t require.TestingT) {
				a.requireNetworkDown(t, s.message)
				_, err := a.tryRunPod(c.Pod("new"))
				require.Equal(t, codes.Unavailable, status.Code(err), err)
				assert.ErrorContains(t, err, "pod default/new needs the network")
				assert.ErrorContains(t, err, s.message)
				assert.Zero(t, a.timesAsked("ADD", "new"))
				counted, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_refused_pods_total")
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{"": 1}, counted)
				answers, err := a.n.Metrics(withinAMinute(a.T), "containerd_cri_network_status_total")
				require.NoError(t, err)
				assert.Positive(t, answers[s.counted], answers)

				host := c.Pod("host")
				host.Hostname = ""
				host.Linux.SecurityContext.NamespaceOptions.Network = runtime.NamespaceMode_NODE
				pod, err := a.tryRunPod(host)
				require.NoError(t, err)
				a.requirePodEnds(t, pod)
				a.requirePodEnds(t, old)
				requireNothingLeft(t, a.n)

				a.says("STATUS", "")
				pod, err = a.tryRunPod(c.Pod("new"))
				require.NoError(t, err, "it is asked once more")
				a.requirePodEnds(t, pod)
				a.requireNoAddressTaken(t, "blue")
			})
		})
	}
}

func TestN2_GateIsOff(t *testing.T) {
	a := newAgent(t, "status_gate = false")
	a.says("STATUS", takesNone)
	a.requireNetworkDown(t, "agent is down")
	a.requirePodEnds(t, a.runPod("new"))
	assert.Equal(t, 1, a.timesAsked("ADD", "new"))
}

// Each network has an answer of its own, and the default one decides.
func TestN1_NetworkOfARuntimeHandler(t *testing.T) {
	other := t.TempDir()
	a := newAgent(t, "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.other]",
		"runtime_type = 'io.containerd.runc.v2'", fmt.Sprintf("cni_conf_dir = %q", other))
	a.requireNetworkReady(t)
	stockBreaks(t, "N1", "networks of handlers are not shown", func(t require.TestingT) {
		requireSoon(t, "the networks", func(ctx context.Context) error {
			info, err := a.info(ctx)
			if err != nil {
				return err
			}
			var networks map[string]struct {
				Ready          bool
				State, Network string
				Since          time.Time
			}
			if err := json.Unmarshal([]byte(info["network"]), &networks); err != nil {
				return err
			}
			standard, other := networks["default"], networks["other"]
			if !standard.Ready || standard.Network != "blue" || standard.Since.IsZero() || other.Ready || other.State != "NotInitialised" {
				return fmt.Errorf("they are %+v", networks)
			}
			return nil
		})
		request := &runtime.RunPodSandboxRequest{Config: a.n.CRI().Pod("other"), RuntimeHandler: "other"}
		_, err := a.n.CRI().Runtime.RunPodSandbox(withinAMinute(a.T), request)
		assert.Equal(t, codes.Unavailable, status.Code(err), err)

		// Pods of the handler come and go with its own network, and also without it.
		file := filepath.Join(other, "10-other.conflist")
		require.NoError(t, os.WriteFile(file, []byte(a.networkConfig("other", "10.93.0.0/24")), 0o644))
		var pods []string
		for range 2 {
			requireSoon(t, "a pod on the handler's network", func(ctx context.Context) error {
				r, err := a.n.CRI().Runtime.RunPodSandbox(ctx, request)
				if err == nil {
					pods = append(pods, r.GetPodSandboxId())
				}
				return err
			})
			request.Config = a.n.CRI().Pod("another")
		}
		require.Len(t, a.addressesTaken("other"), 2)
		a.requirePodEnds(t, pods[0])
		require.NoError(t, os.Remove(file))
		a.requirePodEnds(t, pods[1])
		a.requireNoAddressTaken(t, "other", "blue")
	})
}
