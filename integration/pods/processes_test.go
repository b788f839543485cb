// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
)

// asOnStock has the settings that set up and tear down the network of pods as on stock.
const asOnStock = PluginLoopback + `del_once = false
adds_beside_pause = 0
`

// The life of a pod with one container starts no unnecessary process.
func TestLifeOfAPodStartsTheProcessesThatItNeeds(t *testing.T) {
	t.Parallel()
	type counts struct{ hookline, asSet, stock int }
	for name, config := range map[string]string{"by default": "", "as on stock": asOnStock} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := StartNode(t, func(o *node.Options) { o.Config = config })
			calls := CountCalls(t, n, "bin/runc", "bin/containerd-shim-runc-v2", "cni/bin/ptp", "cni/bin/loopback")
			NewLife(t, n, "counted").End(t)

			for call, want := range map[string]counts{
				"containerd-shim-runc-v2 start":  {1, 1, 1},
				"containerd-shim-runc-v2 delete": {0, 0, 2},
				"runc create":                    {2, 2, 2},
				"runc start":                     {2, 2, 2},
				"runc kill":                      {2, 2, 4},
				"runc delete":                    {2, 2, 4},
				"ptp ADD":                        {1, 1, 1},
				"ptp DEL":                        {1, 2, 2},
				"loopback ADD":                   {0, 1, 1},
				"loopback DEL":                   {0, 2, 2},
			} {
				n := want.hookline
				switch {
				case RunsOnStock:
					n = want.stock
				case config != "":
					n = want.asSet
				}
				assert.Equal(t, n, calls.Of(t, strings.Fields(call)...), call)
			}
			require.Positive(t, calls.Of(t, "runc"))
			RequireNothingLeft(t, n)
		})
	}
}

// Only of runc's shim is it known what it leaves to its delete command: containerd runs that of
// every other shim. Here the same program under another name is such a shim.
func TestL15_ShimsOfOthersHaveTheirDeleteCommandRun(t *testing.T) {
	t.Parallel()
	const shim = "containerd-shim-other-v1"
	n := StartNode(t, func(o *node.Options) {
		o.Config = `version = 3
[plugins.'io.containerd.cri.v1.runtime'.containerd]
default_runtime_name = 'other'
[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.other]
runtime_type = 'io.containerd.other.v1'
`
	})
	program, err := filepath.EvalSymlinks(filepath.Join(n.Folder(), "bin", "containerd-shim-runc-v2"))
	require.NoError(t, err)
	require.NoError(t, os.Symlink(program, filepath.Join(n.Folder(), "bin", shim)))
	calls := CountCalls(t, n, filepath.Join("bin", shim))
	NewLife(t, n, "other").End(t)
	require.Equal(t, 1, calls.Of(t, shim, "start"))
	Promise(t, "L15", "the command is run for the container and for its pod", KeptOnStock, func(t require.TestingT) {
		assert.Equal(t, 2, calls.Of(t, shim, "delete"))
	})
	RequireNothingLeft(t, n)
}
