// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// byBridge is the configuration of a node whose pods have their network of the example plugin.
const byBridge = NoRule + "[plugins.'io.containerd.nri.v1.nri']\nnetwork = 'bridge'\n" +
	"[plugins.'io.containerd.nri.v1.nri'.plugins.bridge]\nwait = '10s'\nrequest_timeout = '10s'\nnetwork_grace = '1s'\n"

// onlyPatched skips a test of the setting on a containerd that has none. The conformance cases of N5 to N7
// show what stock does.
func onlyPatched(t *testing.T) {
	t.Helper()
	if RunsOnStock {
		t.Skip("the released containerd has no such setting")
	}
}

// bridged is a node without CNI whose pods have their network of the example plugin, in a process of its own.
type bridged struct {
	*node.Node
	t       *testing.T
	program string
	root    string
	cmd     *exec.Cmd // nil while it does not run
	paths   *plugin.Plugin
}

// onEachPause runs a test on nodes whose pods have a pause container, and on those whose pods have none.
func onEachPause(t *testing.T, test func(t *testing.T, change func(*node.Options))) {
	t.Helper()
	for name, without := range map[string]bool{"pause": false, "without a pause container": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, func(o *node.Options) { o.WithoutPause = without })
		})
	}
}

// startBridged starts the node, and not the plugin.
func startBridged(t *testing.T, change ...func(*node.Options)) *bridged {
	t.Helper()
	onlyPatched(t)
	n := StartNode(t, append(change, WithConfig(byBridge))...)
	_, conf := n.CNI()
	files, err := filepath.Glob(filepath.Join(conf, "*"))
	require.NoError(t, err)
	for _, f := range files {
		require.NoError(t, os.Remove(f))
	}
	b := &bridged{Node: n, t: t, program: BuildProgram(t, "../example/bridge"), root: t.TempDir(), paths: plugin.New("99", "paths")}
	Connect(t, n, b.paths)
	t.Cleanup(func() {
		b.killPlugin()
		if said, err := os.ReadFile(filepath.Join(b.root, "said")); t.Failed() {
			t.Logf("the plugin has said (%v):\n%s", err, said)
		}
	})
	return b
}

// runPlugin starts the plugin, and waits until the node takes pods.
func (b *bridged) runPlugin() {
	b.t.Helper()
	b.cmd = exec.Command(b.program, "-socket", b.NRISocket(), "-root", b.root, "-subnets", "10.88.0.0/24,fd00:88::/64")
	said, err := os.OpenFile(filepath.Join(b.root, "said"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(b.t, err)
	defer said.Close()
	b.cmd.Stderr = said
	require.NoError(b.t, b.Start(b.cmd))
	RequireNetworkReady(b.t, b)
}

func (b *bridged) killPlugin() {
	if b.cmd == nil {
		return
	}
	_ = b.cmd.Process.Signal(syscall.SIGKILL)
	_ = b.cmd.Wait() // it was killed
	b.cmd = nil
}

// addressed is a pod with its addresses in CRI.
type addressed struct {
	id, netns string
	ips       []string
}

// restart kills containerd and starts it again, from a folder of binaries.
func (b *bridged) restart(bin ...string) {
	b.t.Helper()
	ctx := WithinAMinute(b.t)
	require.NoError(b.t, b.Kill(ctx))
	require.NoError(b.t, b.Move(filepath.Join(append([]string{Built}, bin...)...)))
	require.NoError(b.t, b.Boot(ctx))
	require.NoError(b.t, b.paths.Connect(ctx, b.NRISocket()))
}

// run starts a pod.
func (b *bridged) run(name string) addressed {
	b.t.Helper()
	ctx := WithinAMinute(b.t)
	pod, err := b.CRI().RunPod(ctx, b.CRI().Pod(name))
	require.NoError(b.t, err)
	received := b.paths.Calls().Of(pod).Only(plugin.RunPodSandbox)
	require.Len(b.t, received, 1)
	return addressed{pod, NetworkNamespace(received[0].Pod), b.ips(pod)}
}

// ips returns the addresses of a pod in CRI.
func (b *bridged) ips(pod string) []string {
	b.t.Helper()
	return AddressesOf(PodStatus(b.t, b.Node, pod))
}

// requireTalk checks that a pod receives what another one serves at each of its addresses.
func (b *bridged) requireTalk(from, to addressed) {
	b.t.Helper()
	for _, ip := range to.ips {
		b.requireAnswer(from, ip, func(listen func() error) error { return b.Inside(to.netns, listen) })
	}
}

// requireReachesNode checks that a pod receives what the node serves at the addresses of its bridge.
func (b *bridged) requireReachesNode(from addressed) {
	b.t.Helper()
	for _, gateway := range []string{"10.88.0.1", "fd00:88::1"} {
		b.requireAnswer(from, gateway, b.Within)
	}
}

// requireAnswer checks that a pod receives the answer of an address, in the namespace of where.
func (b *bridged) requireAnswer(from addressed, ip string, where func(func() error) error) {
	b.t.Helper()
	text := "this is " + ip
	var l net.Listener
	require.NoError(b.t, where(func() (err error) {
		l, err = net.Listen("tcp", net.JoinHostPort(ip, "0"))
		return err
	}))
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			_, _ = io.WriteString(conn, text) // on an error the client sees that data is missing
			_ = conn.Close()
		}
	}()
	require.NoError(b.t, b.Inside(from.netns, func() error {
		conn, err := new(net.Dialer).DialContext(WithinMoments(b.t), "tcp", l.Addr().String())
		if err != nil {
			return err
		}
		defer conn.Close()
		got, err := io.ReadAll(conn)
		if err == nil && string(got) != text {
			err = fmt.Errorf("it received %q", got)
		}
		return err
	}))
}

// taken returns the addresses that the plugin has given and not taken back.
func (b *bridged) taken() (ips []string) {
	entries, err := os.ReadDir(filepath.Join(b.root, "addresses", "bridge"))
	require.NoError(b.t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "last_reserved_ip") && e.Name() != "lock" {
			ips = append(ips, e.Name())
		}
	}
	return ips
}

// requireTaken waits until exactly these pods have addresses.
func (b *bridged) requireTaken(pods ...addressed) {
	b.t.Helper()
	want := 0
	for _, p := range pods {
		want += len(p.ips)
	}
	RequireSoon(b.t, "the addresses to be free", func(context.Context) error {
		if taken := b.taken(); len(taken) != want {
			return fmt.Errorf("%v are taken", taken)
		}
		return nil
	})
}

// requireDown waits until the network takes no pods, with a reason.
func (b *bridged) requireDown(reason, message string) {
	b.t.Helper()
	RequireNetwork(b.t, b, "not ready: "+message, func(c *runtime.RuntimeCondition) bool {
		return !c.GetStatus() && c.GetReason() == reason && strings.Contains(c.GetMessage(), message)
	})
}
