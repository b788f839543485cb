// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A pod whose sandbox process died ends like any other.
func TestL11_EveryEndOfADeadSandboxIsDeliveredOnce(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := plugin.New("10", "receives")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	for how, end := range map[string]func(pod string) error{
		"stopped and removed": func(pod string) error { return errors.Join(c.StopPod(ctx, pod), c.RemovePod(ctx, pod)) },
		"only removed":        func(pod string) error { return c.RemovePod(ctx, pod) },
	} {
		t.Run(how, func(t *testing.T) {
			l := NewLife(t, n, strings.ReplaceAll(how, " ", "-"))
			KillSandbox(t, p, l.Pod)
			RequirePodNotReady(ctx, t, n, l.Pod)
			require.NoError(t, end(l.Pod))
			RequireNothingLeftButSockets(t, n)
			RequireEveryEndDeliveredOnce(t, p, l)
		})
	}
}
