// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// RequireMetric waits until a metric has a value, with its labels as in Prometheus' text.
func RequireMetric(t require.TestingT, n *node.Node, name, labels string, want float64) {
	RequireSoon(t, name+labels, func(ctx context.Context) error {
		values, err := n.Metrics(ctx, name)
		if value, is := values[labels]; err == nil && (!is || value != want) {
			err = fmt.Errorf("%v, want %v", values, want)
		}
		return err
	})
}
