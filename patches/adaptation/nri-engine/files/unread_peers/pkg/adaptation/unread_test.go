// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// deafConn is a plugin's side of its connection, as if its process were stopped:
// from some moment on it reads nothing, and the kernel's buffer fills.
type deafConn struct {
	net.Conn
	left   int // bytes after which it becomes deaf by itself, never if zero
	once   sync.Once
	deaf   chan struct{}
	closed chan struct{}
}

func (c *deafConn) Read(b []byte) (int, error) {
	select {
	case <-c.deaf:
		<-c.closed
		return 0, net.ErrClosed
	default:
	}
	if c.left == 0 {
		return c.Conn.Read(b)
	}
	n, err := c.Conn.Read(b[:min(len(b), c.left)])
	if c.left -= n; c.left == 0 {
		close(c.deaf)
	}
	return n, err
}

func (c *deafConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// deafPlugin is a plugin whose connection can be made deaf.
func deafPlugin(name string, policy *api.FailurePolicy) (*mockPlugin, *deafConn) {
	c := &deafConn{deaf: make(chan struct{}), closed: make(chan struct{})}
	p := &mockPlugin{idx: "00", name: name}
	p.options = []stub.Option{
		stub.WithFailurePolicy(policy),
		stub.WithDialer(func(path string) (net.Conn, error) {
			var err error
			c.Conn, err = net.Dial("unix", path)
			return c, err
		}),
	}
	return p, c
}

// early is less than Synchronize with a large pod, and more than all messages before it.
const early = 64 << 10

// largePod fills more than a socket's buffer.
func largePod(id string) *api.PodSandbox {
	return &api.PodSandbox{Id: id, Name: id, Annotations: map[string]string{"large": strings.Repeat("x", 2<<20)}}
}

func setTimeouts(request, sync time.Duration) {
	nri.SetPluginRequestTimeout(request)
	nri.SetPluginSyncTimeout(sync)
}

// A peer that does not read blocks no request, whatever its policy. A write to it
// that does not return is no answer, so its connection is closed in the end.
func TestPeerThatDoesNotReadARequest(t *testing.T) {
	for _, policy := range []*api.FailurePolicy{{}, {KeepConnected: true}} {
		t.Run(fmt.Sprintf("keep_connected=%t", policy.KeepConnected), func(t *testing.T) {
			dir := t.TempDir()
			rt := newLockingRuntime(t, dir)
			p, conn := deafPlugin("deaf", policy)
			next := &mockPlugin{idx: "10", name: "next"}
			started(t, dir, p)
			require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
			close(conn.deaf)
			ctx, cancel := context.WithTimeout(context.Background(), soon)
			defer cancel()
			t.Cleanup(func() { setTimeouts(nri.DefaultPluginRequestTimeout, 0) })
			setTimeouts(500*time.Millisecond, 400*time.Millisecond)
			require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: largePod("pod0")}))

			// A request that waited for it now would wait longer than the context.
			setTimeouts(2*soon, 0)
			started(t, dir, next)
			require.NoError(t, next.Wait(PluginSynchronized, time.After(soon)))
			for i := range 5 {
				require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: largePod(fmt.Sprintf("pod%d", i+1))}))
			}
			require.NoError(t, next.Wait(PodSandboxEvent(largePod("pod5"), RunPodSandbox), time.After(soon)))
			require.Eventually(t, func() bool { return len(rt.PluginStatus()) == 1 }, soon, time.Millisecond)
		})
	}
}

// A peer that does not read its Synchronize is dropped alone.
func TestPeerThatDoesNotReadSynchronize(t *testing.T) {
	t.Cleanup(func() { setTimeouts(nri.DefaultPluginRequestTimeout, 0) })
	setTimeouts(nri.DefaultPluginRequestTimeout, 400*time.Millisecond)
	dir := t.TempDir()
	rt := newLockingRuntime(t, dir)
	rt.pods = append(rt.pods, largePod("existing"))
	p, conn := deafPlugin("deaf", &api.FailurePolicy{FailRequest: true, KeepConnected: true})
	conn.left = early
	_ = p.Start(dir) // fails if the reply to its registration lies behind what it does not read
	t.Cleanup(p.Stop)
	require.NoError(t, p.Wait(PluginConfigured, time.After(soon)))

	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod0", Name: "pod0"}}))
	require.Eventually(t, func() bool { return len(rt.PluginStatus()) == 0 }, soon, time.Millisecond)

	setTimeouts(nri.DefaultPluginRequestTimeout, time.Minute) // 2 MB take a while on a busy machine
	next := &mockPlugin{idx: "10", name: "next"}
	started(t, dir, next)
	require.NoError(t, next.Wait(PluginSynchronized, time.After(time.Minute)))
}
