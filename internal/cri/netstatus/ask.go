// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/hookline-nri/hookline/internal/cri/netconf"
)

// maxText bounds Message and Details, which travel in CRI conditions and in
// the errors of gRPC.
const maxText = 1 << 10

// A network is a network that go-cni loaded.
type network struct {
	list *libcni.NetworkConfigList
	cni  *libcni.CNIConfig
}

// networks returns all networks of a configuration but the loopback.
func (m *Monitor) networks(config *gocni.ConfigResult) []network {
	if config == nil {
		return nil
	}
	cni := libcni.NewCNIConfig(config.PluginDirs, m.exec)
	var all []network
	for _, n := range netconf.OfPods(config) {
		all = append(all, network{list: netconf.List(n), cni: cni})
	}
	return all
}

// ask runs STATUS of all networks at the same time, each within the timeout.
func (m *Monitor) ask(ctx context.Context, networks []network) []Status {
	if len(networks) == 0 {
		return []Status{{State: NotInitialized, Message: gocni.ErrCNINotInitialized.Error() + ": no network configuration is loaded", Asked: time.Now()}}
	}
	answers := make([]Status, len(networks))
	var asking sync.WaitGroup
	for i, n := range networks {
		asking.Go(func() { answers[i] = m.askOne(ctx, n) })
	}
	asking.Wait()
	return answers
}

func (m *Monitor) askOne(ctx context.Context, n network) Status {
	s := Status{Network: n.list.Name, State: Unsupported, Asked: time.Now()}
	if has, _ := version.GreaterThanOrEqualTo(n.list.CNIVersion, "1.1.0"); !has {
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, m.options.Timeout)
	defer cancel()
	plugin, err := n.status(ctx)
	s.Plugin, s.Took = plugin, time.Since(s.Asked)

	var answer *types.Error
	switch {
	case err == nil:
		s.State = OK
	case errors.As(err, &answer):
		s.State, s.Code = stateOf(answer.Code), answer.Code
		s.Message, s.Details = clip(answer.Msg), clip(answer.Details)
	case ctx.Err() != nil:
		s.State, s.Message = TimedOut, "no answer within "+m.options.Timeout.String()
	default:
		s.State, s.Message = ExecFailed, clip(err.Error())
	}
	return s
}

// status asks the plugins one after the other, as libcni does. It returns the first error and
// the type of the plugin, which libcni does not return.
func (n network) status(ctx context.Context) (plugin string, err error) {
	for i, p := range n.list.Plugins {
		one := *n.list
		one.Plugins = n.list.Plugins[i : i+1]
		if err := n.cni.GetStatusNetworkList(ctx, &one); err != nil {
			return p.Network.Type, err
		}
	}
	return "", nil
}

func stateOf(code uint) State {
	switch code {
	case types.ErrTryAgainLater:
		return TryAgain
	case types.ErrPluginNotAvailable:
		return NotAvailable
	case types.ErrLimitedConnectivity:
		return Degraded
	}
	return OtherError
}

// worst returns the worst answer, the first of equals.
func worst(answers []Status) Status {
	decides := answers[0]
	for _, s := range answers[1:] {
		if s.State > decides.State {
			decides = s
		}
	}
	return decides
}

// clip makes text valid and short enough for a gRPC message.
func clip(text string) string {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	cut := maxText - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
