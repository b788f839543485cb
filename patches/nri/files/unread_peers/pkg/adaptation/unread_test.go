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

// deafConn is a plugin's side of its connection, as of a process that was
// stopped: from some moment on it reads nothing, and the kernel's buffer fills.
type deafConn struct {
	net.Conn
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
		return c.Conn.Read(b)
	}
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

// largePod fills more than a socket's buffer.
func largePod(id string) *api.PodSandbox {
	return &api.PodSandbox{Id: id, Name: id, Annotations: map[string]string{"large": strings.Repeat("x", 2<<20)}}
}

func shortTimeouts(t *testing.T) {
	nri.SetPluginRequestTimeout(500 * time.Millisecond)
	nri.SetPluginSyncTimeout(400 * time.Millisecond)
	t.Cleanup(func() {
		nri.SetPluginRequestTimeout(nri.DefaultPluginRequestTimeout)
		nri.SetPluginSyncTimeout(0)
	})
}

// A peer that does not read holds up no request, whatever its policy, and its
// connection is closed in the end: a write to it that does not end is no answer.
func TestPeerThatDoesNotReadARequest(t *testing.T) {
	for _, policy := range []*api.FailurePolicy{{}, {KeepConnected: true}} {
		t.Run(fmt.Sprintf("keep_connected=%t", policy.KeepConnected), func(t *testing.T) {
			shortTimeouts(t)
			dir := t.TempDir()
			rt := newLockingRuntime(t, dir)
			p, conn := deafPlugin("deaf", policy)
			next := &mockPlugin{idx: "10", name: "next"}
			started(t, dir, p)
			started(t, dir, next)
			require.NoError(t, p.Wait(PluginSynchronized, time.After(startupTimeout)))
			require.NoError(t, next.Wait(PluginSynchronized, time.After(startupTimeout)))
			close(conn.deaf)

			ctx, cancel := context.WithTimeout(context.Background(), startupTimeout)
			defer cancel()
			for i := range 5 {
				require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: largePod(fmt.Sprintf("pod%d", i))}))
			}
			require.NoError(t, next.Wait(PodSandboxEvent(largePod("pod4"), RunPodSandbox), time.After(startupTimeout)))
			require.Eventually(t, func() bool { return len(rt.PluginStatus()) == 1 }, startupTimeout, time.Millisecond)
		})
	}
}

// A peer that does not read its Synchronize is dropped alone.
func TestPeerThatDoesNotReadSynchronize(t *testing.T) {
	shortTimeouts(t)
	dir := t.TempDir()
	rt := newLockingRuntime(t, dir)
	rt.pods = append(rt.pods, largePod("there"))
	p, conn := deafPlugin("deaf", &api.FailurePolicy{FailRequest: true, KeepConnected: true})
	started(t, dir, p)
	require.NoError(t, p.Wait(PluginConfigured, time.After(startupTimeout)))
	close(conn.deaf)

	ctx, cancel := context.WithTimeout(context.Background(), startupTimeout)
	defer cancel()
	require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod0", Name: "pod0"}}))
	require.Eventually(t, func() bool { return len(rt.PluginStatus()) == 0 }, startupTimeout, time.Millisecond)

	nri.SetPluginSyncTimeout(time.Minute) // 2 MB take a while on a busy machine
	next := &mockPlugin{idx: "10", name: "next"}
	started(t, dir, next)
	require.NoError(t, next.Wait(PluginSynchronized, time.After(time.Minute)))
}
