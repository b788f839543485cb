// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The runtime starts whatever is in the folder of creations, and serves.
func TestL22_RuntimeStartsWhateverIsAmongTheCreations(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	folder := filepath.Join(n.Folder(), "state", "io.containerd.nri.v1.nri", "creations")
	for is, put := range odd(folder) {
		t.Run(is, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(WithinAMinute(t), 20*time.Second)
			defer cancel()
			require.NoError(t, n.Kill(ctx))
			require.NoError(t, put())
			errBoot := n.Boot(ctx)
			Promise(t, "L22", "the runtime starts with "+is+", and runs pods", KeptOnStock, func(t require.TestingT) {
				require.NoError(t, errBoot)
				p := plugin.New("10", "watches")
				require.NoError(t, p.Connect(ctx, n.NRISocket()))
				defer p.Crash()
				RequirePodRunsAgain(t, n, n.CRI().Pod("new"))
			})
		})
	}
}
