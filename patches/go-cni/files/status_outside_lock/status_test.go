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

// hanging is a network whose STATUS answers when it is let go, whatever becomes of the context,
// as one does whose child holds its output.
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

// While a plugin hangs in STATUS, a reload, a DEL and those who ask for it are not held up, and
// it is asked once.
func TestStatusThatHangsHoldsUpNobody(t *testing.T) {
	h := newHanging()
	defer close(h.free)
	c := defaultCNIConfig()
	require.NoError(t, h.load(c))

	for i := 0; i < 3; i++ {
		require.ErrorIs(t, c.statusWithin(time.Millisecond), context.DeadlineExceeded)
	}
	require.NoError(t, c.Remove(context.Background(), "pod", ""))
	<-(<-h.asked).Done() // libcni kills the plugin
	require.Empty(t, h.asked, "asked again while it hangs")

	require.NoError(t, c.Load(h.load))
	answers := make(chan error)
	go func() { answers <- c.statusWithin(time.Minute) }()
	<-h.asked
	h.free <- nil // one of the two is free, and both are
	h.free <- nil
	require.NoError(t, <-answers, "what is loaded anew is asked anew")
}

// Status is what the plugin says, each time.
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
