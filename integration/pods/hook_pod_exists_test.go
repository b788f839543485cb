// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// agreesIfHostAnswers approves if the host answers a connection from the pod's network, and sees
// the pod's address.
func agreesIfHostAnswers(n *node.Node, host net.Listener) plugin.Reply {
	return func(ctx context.Context, call *plugin.Call) error {
		gateway, err := n.Gateway(NetworkNamespace(call.Pod))
		if err != nil {
			return err
		}
		_, port, err := net.SplitHostPort(host.Addr().String())
		if err != nil {
			return err
		}
		conn, err := n.DialFrom(ctx, NetworkNamespace(call.Pod), net.JoinHostPort(gateway.String(), port))
		if err != nil {
			return err
		}
		seen, err := io.ReadAll(conn)
		if err != nil {
			return err
		}
		if string(seen) != call.Pod.GetIps()[0] {
			return fmt.Errorf("the host sees %s, not the pod's %v", seen, call.Pod.GetIps())
		}
		return conn.Close()
	}
}

// serveAddresses answers each connection with the address that it comes from.
func serveAddresses(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		ip, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
		_, _ = io.WriteString(conn, ip) // on an error the client sees that data is missing
		_ = conn.Close()
	}
}

func TestL5_NetworkOfAPodIsUpInItsHook(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	host, err := n.Listen(":0")
	require.NoError(t, err)
	defer host.Close()
	go serveAddresses(host)
	p := plugin.New("10", "dials")
	p.On(plugin.RunPodSandbox, agreesIfHostAnswers(n, host))
	Connect(t, n, p)

	pod, err := n.CRI().RunPod(WithinAMinute(t), n.CRI().Pod("reachable"))
	require.NoError(t, err)
	run := p.Calls().Of(pod)
	require.Len(t, run, 1)
	require.NoError(t, run[0].Err)
}

func TestL5_PodExistsInItsHook(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := plugin.New("10", "looks")
	p.On(plugin.RunPodSandbox, AgreesIfNetworkStands(n))
	Connect(t, n, p)

	l := NewLife(t, n, "there")
	run := p.Calls().Only(plugin.RunPodSandbox)
	require.Len(t, run, 1)
	require.NoError(t, run[0].Err)
	pod := run[0].Pod
	require.Equal(t, l.Pod, pod.GetId())
	require.Equal(t, "there", pod.GetName())
	require.Len(t, pod.GetIps(), 1)
	require.NotEmpty(t, pod.GetLinux().GetCgroupsPath())
	require.NoError(t, syscall.Kill(int(pod.GetPid()), 0), "no process %d", pod.GetPid())
	l.End(t)
	RequireNothingLeft(t, n)
}
