// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
)

// gates is the configuration of a node whose network waits for plugins, and goes on
// without them for a grace, while pods wait for them for a time of their own.
func gates(grace, wait string, plugins ...string) string {
	config := NoRule
	for _, name := range plugins {
		config += fmt.Sprintf("[plugins.'io.containerd.nri.v1.nri'.plugins.%q]\nrequired_for = ['pods', 'containers']\ngates_network = true\nwait = %q\nnetwork_grace = %q\n", name, wait, grace)
	}
	return config
}

// networkOf returns the condition of a node's network.
func networkOf(ctx context.Context, n Runtime) (*runtime.RuntimeCondition, error) {
	r, err := n.CRI().Runtime.Status(ctx, &runtime.StatusRequest{})
	for _, c := range r.GetStatus().GetConditions() {
		if c.GetType() == runtime.NetworkReady {
			return c, err
		}
	}
	return nil, fmt.Errorf("no condition of the network: %w", err)
}

// requireNetworkOf waits for a node's network to be ready.
func requireNetworkOf(t require.TestingT, n Runtime) {
	RequireSoon(t, "the network to be ready", func(ctx context.Context) error {
		c, err := networkOf(ctx, n)
		if err == nil && !c.GetStatus() {
			err = fmt.Errorf("%s: %s", c.GetReason(), c.GetMessage())
		}
		return err
	})
}

// requireAway waits for a node's network to wait for these plugins, and for no other.
func requireAway(t require.TestingT, n Runtime, plugins ...string) {
	var parts []string
	for _, name := range plugins {
		parts = append(parts, fmt.Sprintf(`required plugin %s is away since \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`, name))
	}
	message := regexp.MustCompile("^" + strings.Join(parts, "; ") + "$")
	RequireSoon(t, "the network to wait for "+strings.Join(plugins, " and "), func(ctx context.Context) error {
		c, err := networkOf(ctx, n)
		if err == nil && (c.GetStatus() || c.GetReason() != "NRIPluginAway" || !message.MatchString(c.GetMessage())) {
			err = fmt.Errorf("it is %v, %s: %s", c.GetStatus(), c.GetReason(), c.GetMessage())
		}
		return err
	})
}

// watchNetwork asks for the status all the time. The function that it returns ends
// that once it has had one, and returns all answers.
func watchNetwork(t *testing.T, n Runtime) func() []*runtime.RuntimeCondition {
	ctx, cancel := context.WithCancel(t.Context())
	var all []*runtime.RuntimeCondition
	first := make(chan struct{})
	var asks sync.WaitGroup
	asks.Go(func() {
		for ctx.Err() == nil {
			if c, err := networkOf(ctx, n); err == nil {
				if len(all) == 0 {
					close(first)
				}
				all = append(all, c)
			}
		}
	})
	return func() []*runtime.RuntimeCondition {
		select {
		case <-first:
		case <-WithinMoments(t).Done():
		}
		cancel()
		asks.Wait()
		return all
	}
}
