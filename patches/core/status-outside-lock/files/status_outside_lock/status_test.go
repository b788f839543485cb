// SPDX-License-Identifier: Apache-2.0

package cni

import (
	"context"
	"errors"
	"testing"
	"time"

	cnilibrary "github.com/containernetworking/cni/libcni"
	"github.com/stretchr/testify/require"
)

// hanging is a network whose STATUS answers when the test frees it, and ignores its context, like
// a plugin whose child holds its output.
type hanging struct {
	cnilibrary.CNI
	asked chan context.Context
	free  chan error
}

func newHanging() *hanging {
	return &hanging{asked: make(chan context.Context, 10), free: make(chan error)}
}

func (h *hanging) GetStatusNetworkList(ctx context.Context, _ *cnilibrary.NetworkConfigList) error {
	h.asked <- ctx
	return <-h.free
}

func (h *hanging) DelNetworkList(context.Context, *cnilibrary.NetworkConfigList, *cnilibrary.RuntimeConf) error {
	return nil
}

func (h *hanging) load(c *libcni) error {
	c.cniConfig = h
	c.networks = []*Network{{cni: h, config: &cnilibrary.NetworkConfigList{Name: "net"}, ifName: "eth0"}}
	return nil
}

// While a plugin hangs in STATUS, neither a reload nor a DEL nor callers of Status are blocked, and
// STATUS runs once.
func TestStatusThatHangsBlocksNothing(t *testing.T) {
	h := newHanging()
	defer close(h.free)
	c := defaultCNIConfig()
	require.NoError(t, h.load(c))

	answers := make(chan error)
	for i := 0; i < 3; i++ {
		go func() { answers <- c.statusWithin(50 * time.Millisecond) }()
	}
	asked := <-h.asked
	require.NoError(t, c.Remove(context.Background(), "pod", ""))
	for i := 0; i < 3; i++ {
		require.ErrorIs(t, <-answers, context.DeadlineExceeded)
	}
	<-asked.Done() // libcni kills the plugin
	require.Empty(t, h.asked, "STATUS ran for each caller")

	go func() { answers <- c.statusWithin(time.Minute) }()
	<-h.asked // though the first run has not ended
	require.NoError(t, c.Load(h.load))
	go func() { answers <- c.statusWithin(time.Minute) }()
	<-h.asked
	for i := 0; i < 3; i++ {
		h.free <- nil
	}
	require.NoError(t, <-answers)
	require.NoError(t, <-answers, "a new configuration has a new run")
}

// Each Status runs STATUS, and returns the plugin's result.
func TestStatusIsAskedEachTime(t *testing.T) {
	h := newHanging()
	c := defaultCNIConfig()
	require.NoError(t, h.load(c))
	full := errors.New("no addresses left")
	for _, want := range []error{nil, full, nil} {
		go func(err error) { h.free <- err }(want)
		require.ErrorIs(t, c.Status(), want)
	}
	require.Len(t, h.asked, 3)
	c.networks = nil
	require.ErrorIs(t, c.Status(), ErrCNINotInitialized)
}
