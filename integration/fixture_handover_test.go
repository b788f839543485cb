// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// Ways in which stock fails with a plugin that is replaced.
const (
	bothTold   = "both are told of each pod"
	firstStays = "the first one stays for good"
)

// instances are the connections of one plugin, each a plugin of its own here.
type instances []*plugin.Plugin

// replica is one more instance.
func (i *instances) replica() *plugin.Plugin {
	p := plugin.New("10", "one")
	*i = append(*i, p)
	return p
}

// of is what all of them together were told of a pod, in the order of time.
func (i instances) of(pod string) (calls plugin.Calls) {
	for _, p := range i {
		calls = append(calls, p.Calls().Of(pod)...)
	}
	slices.SortStableFunc(calls, func(a, b plugin.Call) int { return cmp.Compare(a.Start.UnixNano(), b.Start.UnixNano()) })
	return calls
}

// requireOnce says that they together were told the whole of the lives of pods, each
// event once.
func (i instances) requireOnce(t require.TestingT, pods ...string) {
	for _, pod := range pods {
		assert.ElementsMatch(t, whole, i.of(pod).Events(), "pod %s", pod)
	}
}

// requireReplaced waits until an instance was told to go: on stock it goes by itself.
func requireReplaced(t *testing.T, p *plugin.Plugin) {
	t.Helper()
	if runsOnStock {
		p.Crash()
	}
	requireClosed(t, p.Closed(), fmt.Sprintf("%s to be told to go", p.Name()))
}

// requireClosedSoon waits until an instance's connection closes, which on stock it does not.
func requireClosedSoon(t require.TestingT, p *plugin.Plugin) {
	requireSoon(t, p.Name()+" to be closed", func(context.Context) error {
		if isOpen(p.Closed()) {
			return errors.New("it is open")
		}
		return nil
	})
}
