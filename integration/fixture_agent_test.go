// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/node"
)

// agent is a CNI plugin at the end of the chain of the default network. It adds
// nothing, and does for each command what the test says.
type agent struct {
	*testing.T
	n   *node.Node
	dir string
}

// agentText notes each command with the pod, does what is in the file of the
// command's name, and goes on as a plugin that is happy with everything.
const agentText = `#!/bin/sh
cd '@DIR@' || exit 1
pod=${CNI_ARGS#*K8S_POD_NAME=}
echo "$CNI_COMMAND ${pod%%;*}" >>asked
[ -e "$CNI_COMMAND" ] && . "./$CNI_COMMAND"
exec '@BIN@/pass'
`

// Scripts of the agent.
const (
	takesNone = `echo '{"code": 50, "msg": "agent is down", "details": "no socket"}'; exit 1`
	degraded  = `echo '{"code": 51, "msg": "no route to the pods"}'; exit 1`
	later     = `echo '{"code": 11, "msg": "still starting"}'; exit 1`
	notFound  = `echo '{"code": 100, "msg": "rule not found"}'; exit 1`
	fails     = `echo '{"code": 100, "msg": "out of luck"}'; exit 1`
	garbage   = `echo 'panic: what?'; exit 2`
	// For ever: there is nobody who writes. fd 3 is not one that is waited for.
	hangs = `exec 3<>silent; printf x >>hangs; read -r word <&3`
	// Long after the plugin has answered, or been killed, something holds its pipes.
	grandchild = `rm -f up; mkfifo up; setsid sh -c 'echo up >up; exec 3<>silent; read -r word <&3' & read -r word <up; `
)

// withAgent has the network end with the agent, and STATUS asked often.
func withAgent(settings ...string) func(*node.Options) {
	return func(o *node.Options) {
		o.Config = "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.cni]\n" + strings.Join(append([]string{
			"status_interval = '20ms'",
		}, settings...), "\n") + "\n"
	}
}

// newAgent starts a node with an agent, and gives it the network.
func newAgent(t *testing.T, settings ...string) *agent {
	t.Helper()
	n := startNode(t, withAgent(settings...))
	a := &agent{T: t, n: n, dir: filepath.Join(n.Folder(), "agent")}
	require.NoError(t, os.Mkdir(a.dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(a.dir, "asked"), nil, 0o644))
	mkfifo(t, filepath.Join(a.dir, "silent"))
	bin, _ := n.CNI()
	text := strings.NewReplacer("@DIR@", a.dir, "@BIN@", bin).Replace(agentText)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "agent"), []byte(text), 0o755))
	a.loadNetwork("blue", "10.89.0.0/24")
	return a
}

// says has the agent do something when it is asked a command, and with an empty
// script what it does by itself.
func (a *agent) says(command, script string) {
	a.Helper()
	path := filepath.Join(a.dir, command)
	require.NoError(a, os.WriteFile(path+".new", []byte(script+"\n"), 0o644))
	require.NoError(a, os.Rename(path+".new", path))
}

// timesAsked returns how often the agent was asked a command, for a pod or for all.
func (a *agent) timesAsked(command, pod string) int {
	a.Helper()
	text, err := os.ReadFile(filepath.Join(a.dir, "asked"))
	require.NoError(a, err)
	return strings.Count(string(text), strings.TrimSpace(command+" "+pod))
}

// requireHangs waits until the agent hangs.
func (a *agent) requireHangs() {
	a.Helper()
	a.requireSoon("the agent to hang", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		_, _ = a.networkCondition(ctx) // has it asked, where the last answer is old enough
		_, err := os.Stat(filepath.Join(a.dir, "hangs"))
		return err
	})
}

// loadNetwork puts a network of that name and subnet in the place of any other.
func (a *agent) loadNetwork(name, subnet string) {
	a.Helper()
	a.writeConfig("10-net.conflist", a.networkConfig(name, subnet))
	a.requireSoon("network "+name+" to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, name) })
}

// networkConfig is a network that ends with the agent.
func (a *agent) networkConfig(name, subnet string) string {
	return fmt.Sprintf(`{"cniVersion": "1.1.0", "name": %q, "plugins": [
		{"type": "ptp", "ipam": {"type": "host-local", "ranges": [[{"subnet": %q}]], "dataDir": %q}},
		{"type": "agent"}]}`, name, subnet, a.addresses())
}

// writeConfig writes a configuration file, as operators do: by a rename.
func (a *agent) writeConfig(file, text string) {
	a.Helper()
	_, conf := a.n.CNI()
	_ = os.Remove(filepath.Join(conf, "10-hookline.conflist"))
	path := filepath.Join(conf, file)
	require.NoError(a, os.WriteFile(filepath.Join(a.dir, "new"), []byte(text), 0o644))
	require.NoError(a, os.Rename(filepath.Join(a.dir, "new"), path))
	require.NoError(a, os.WriteFile(path, []byte(text), 0o644)) // a rename into the folder is no event
}

// unloadNetwork removes the configuration.
func (a *agent) unloadNetwork() {
	a.Helper()
	_, conf := a.n.CNI()
	require.NoError(a, os.Remove(filepath.Join(conf, "10-net.conflist")))
	a.requireSoon("no network to be loaded", func(ctx context.Context) error { return a.hasLoaded(ctx, "") })
}

// addresses is where host-local keeps them, by the name of the network.
func (a *agent) addresses() string { return filepath.Join(a.n.Folder(), "cni", "addresses") }

// addressesTaken returns the addresses that are taken in a network.
func (a *agent) addressesTaken(network string) (ips []string) {
	a.Helper()
	entries, err := os.ReadDir(filepath.Join(a.addresses(), network))
	if !errors.Is(err, os.ErrNotExist) {
		require.NoError(a, err)
	}
	for _, e := range entries {
		if e.Name()[0] >= '0' && e.Name()[0] <= '9' {
			ips = append(ips, e.Name())
		}
	}
	return ips
}

// hasLoaded tells whether the runtime has loaded a network, or none.
func (a *agent) hasLoaded(ctx context.Context, name string) error {
	var config struct {
		Networks []struct {
			IFName string
			Config struct{ Name string }
		}
	}
	info, err := a.info(ctx)
	if err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(info["cniconfig"]), &config); err != nil {
		return err
	}
	have := ""
	for _, n := range config.Networks {
		if n.IFName != "lo" {
			have = n.Config.Name
		}
	}
	if have != name {
		return fmt.Errorf("%q is loaded", have)
	}
	return nil
}

func (a *agent) info(ctx context.Context) (map[string]string, error) {
	r, err := a.n.CRI().Runtime.Status(ctx, &runtime.StatusRequest{Verbose: true})
	return r.GetInfo(), err
}

// networkCondition returns the condition of the network.
func (a *agent) networkCondition(ctx context.Context) (*runtime.RuntimeCondition, error) {
	return a.condition(ctx, runtime.NetworkReady)
}

// condition returns a condition of the runtime.
func (a *agent) condition(ctx context.Context, name string) (*runtime.RuntimeCondition, error) {
	r, err := a.n.CRI().Runtime.Status(ctx, &runtime.StatusRequest{})
	for _, condition := range r.GetStatus().GetConditions() {
		if condition.GetType() == name {
			return condition, err
		}
	}
	return nil, errors.Join(err, fmt.Errorf("no condition %s", name))
}

// requireNetworkReady waits for the network to be ready.
func (a *agent) requireNetworkReady(t require.TestingT) {
	a.requireNetwork(t, "ready", func(c *runtime.RuntimeCondition) bool { return c.GetStatus() && c.GetReason() == "" })
}

// requireNetworkNotReady waits for the network not to be ready, for a reason, with
// a message of which a part is given.
func (a *agent) requireNetworkNotReady(t require.TestingT, reason, message string) {
	a.requireNetwork(t, reason, func(c *runtime.RuntimeCondition) bool {
		return !c.GetStatus() && c.GetReason() == reason && strings.Contains(c.GetMessage(), message)
	})
}

// requireNetworkDown is requireNetworkNotReady for any reason.
func (a *agent) requireNetworkDown(t require.TestingT, message string) {
	a.requireNetwork(t, "down", func(c *runtime.RuntimeCondition) bool {
		return !c.GetStatus() && strings.Contains(c.GetMessage(), message)
	})
}

// requireNetwork waits for a condition of the network.
func (a *agent) requireNetwork(t require.TestingT, what string, is func(*runtime.RuntimeCondition) bool) {
	requireSoon(t, "the network to be "+what, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		c, err := a.networkCondition(ctx)
		if err == nil && !is(c) {
			err = fmt.Errorf("it is %v, %s: %s", c.GetStatus(), c.GetReason(), c.GetMessage())
		}
		return err
	})
}

func (a *agent) requireSoon(what string, holds func(context.Context) error) {
	a.Helper()
	requireSoon(a, what, holds)
}

// runPod creates a pod.
func (a *agent) runPod(name string) string {
	a.Helper()
	pod, err := a.n.CRI().RunPod(withinAMinute(a.T), a.n.CRI().Pod(name))
	require.NoError(a, err)
	return pod
}

// tryRunPod creates a pod, in the time that it takes where it waits for nothing.
func (a *agent) tryRunPod(config *runtime.PodSandboxConfig) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return a.n.CRI().RunPod(ctx, config)
}

// requirePodEnds stops and removes a pod.
func (a *agent) requirePodEnds(t require.TestingT, pod string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	require.NoError(t, a.n.CRI().StopPod(ctx, pod))
	require.NoError(t, a.n.CRI().RemovePod(ctx, pod))
}

// requireNoAddressTaken checks that no address is taken, in any network.
func (a *agent) requireNoAddressTaken(t require.TestingT, networks ...string) {
	for _, network := range networks {
		assert.Empty(t, a.addressesTaken(network), network)
	}
	assert.NotContains(t, kindsLeft(t, a.n), "attachment")
}
