// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/protobuf/proto"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// sandboxShim builds integration/sandboxshim, once, and returns its folder.
var sandboxShim = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(filepath.Dir(pause), "sandboxer")
	cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(folder, "containerd-shim-runc-v2"), "./sandboxshim")
	// As for the pause program: a race or coverage build must not carry over.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sandboxshim: %w: %s", err, out)
	}
	return folder, nil
})

// startSandboxer runs a node whose pods' sandboxes are made by their shim.
func startSandboxer(t *testing.T) *node.Node {
	t.Helper()
	folder, err := sandboxShim()
	require.NoError(t, err)
	return startNode(t, func(o *node.Options) {
		require.NoError(t, o.SandboxesByShim(folder))
		o.RequestTimeout = 30 * time.Second
	})
}

// requireNoSandboxLeft is requireNothingLeft, and looks for the bundles of such sandboxes too.
func requireNoSandboxLeft(t require.TestingT, n *node.Node) {
	requireNothingLeft(t, n)
	requireSoon(t, "the removal of bundles", func(context.Context) error {
		bundles, err := filepath.Glob(filepath.Join(n.Folder(), "*", "io.containerd.sandbox.controller.v1.shim", "*", "*"))
		if err == nil && len(bundles) > 0 {
			err = fmt.Errorf("left: %q", bundles)
		}
		return err
	})
}

// stateOf is what CRI says of a pod.
func stateOf(t *testing.T, n *node.Node, pod string) runtime.PodSandboxState {
	t.Helper()
	r, err := n.CRI().Runtime.PodSandboxStatus(withinAMinute(t), &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
	require.NoError(t, err)
	return r.GetStatus().GetState()
}

// shimsConfig is the configuration of a pod that its shim got with CreateSandbox,
// and keeps.
func shimsConfig(t require.TestingT, n *node.Node, pod string) *runtime.PodSandboxConfig {
	found, err := filepath.Glob(filepath.Join(n.Folder(), "*", "*", "*", pod, "options"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	kept, err := os.ReadFile(found[0])
	require.NoError(t, err)
	config := &runtime.PodSandboxConfig{}
	require.NoError(t, proto.Unmarshal(kept, config))
	return config
}

func TestL1_SandboxOfAShim(t *testing.T) {
	n := startSandboxer(t)
	p := plugin.New("10", "watches")
	connect(t, n, p)
	l := newLife(t, n, "ordinary")
	require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, stateOf(t, n, l.pod))
	l.end(t)
	require.Equal(t, whole, p.Calls().Of(l.pod).Events())
	requireNoSandboxLeft(t, n)
}

func TestL7_RefusedSandboxOfAShim(t *testing.T) {
	n := startSandboxer(t)
	first, second, third := connectTrio(t, n)

	config := runRefused(t, second, n)

	requireUndoneWhileNetworkStood(t, first, config)
	requireUndoneWhileNetworkStood(t, second, config)
	requireNoSandboxLeft(t, n)
	stockBreaks(t, "L7", "a plugin that was never asked gets Stop and Remove of a pod of a shim", func(t require.TestingT) {
		assert.Empty(t, third.Calls().Named("refused").Events(), third.Name())
	})
	second.On(plugin.RunPodSandbox, nil)
	requirePodRunsAgain(t, n, config)
	requireNoSandboxLeft(t, n)
}

// parent is the process that a process was started by.
func parent(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(status), "\nPPid:")
	var ppid int
	_, err = fmt.Sscan(after, &ppid)
	require.NoError(t, err)
	return ppid
}

func TestL5_SandboxOfAShimDiesDuringTheHook(t *testing.T) {
	for dies, who := range map[string]func(*testing.T, int) int{
		"sandbox process": func(_ *testing.T, sandbox int) int { return sandbox },
		"shim":            parent,
	} {
		t.Run(dies, func(t *testing.T) {
			n := startSandboxer(t)
			slow := plugin.New("10", "slow")
			connect(t, n, slow)
			gate := newGate(t)
			slow.On(plugin.RunPodSandbox, gate.Hold)
			config := n.CRI().Pod("dying")
			ran := inBackground(func() error { _, err := n.CRI().RunPod(withinAMinute(t), config); return err })
			requireClosed(t, gate.Entered(), "the hook")

			sandbox := int(slow.Calls().Only(plugin.RunPodSandbox)[0].Pod.GetPid())
			require.NoError(t, unix.Kill(who(t, sandbox), unix.SIGKILL))

			var err error
			select {
			case err = <-ran:
			case <-withinMoments(t).Done(): // who does not notice by then may once all have agreed
				gate.Release()
				err = <-ran
			}
			stockBreaks(t, "L5", "a pod whose "+dies+" died during the hook becomes ready", func(t require.TestingT) {
				require.Error(t, err)
				gate.Release()
				requireSoon(t, "RemovePodSandbox", func(context.Context) error { return hasAnswered(slow, plugin.RemovePodSandbox) })
				assert.Equal(t, undone, slow.Calls().Named("dying").Events())
				requireNoSandboxLeft(t, n)
				requirePodRunsAgain(t, n, config)
				requireNoSandboxLeft(t, n)
			})
		})
	}
}

func TestL15_SandboxOfAShimOverARestart(t *testing.T) {
	n := startSandboxer(t)
	back := plugin.New("10", "back")
	connect(t, n, back)
	pod, err := n.CRI().RunPod(withinAMinute(t), n.CRI().Pod("survivor"))
	require.NoError(t, err)

	require.NoError(t, n.Kill(withinAMinute(t)))
	require.NoError(t, n.Boot(withinAMinute(t)))
	require.Equal(t, runtime.PodSandboxState_SANDBOX_READY, stateOf(t, n, pod))
	connect(t, n, back)
	require.NoError(t, n.CRI().StopPod(withinAMinute(t), pod))
	require.NoError(t, n.CRI().RemovePod(withinAMinute(t), pod))

	requireNoSandboxLeft(t, n)
	stockBreaks(t, "L15", "a pod of a shim that is found by a restarted runtime ends untold", func(t require.TestingT) {
		records := back.Calls().Connections()
		assert.Equal(t, []plugin.Event{plugin.StopPodSandbox, plugin.RemovePodSandbox}, records[len(records)-1].Of(pod).Events())
	})
}
