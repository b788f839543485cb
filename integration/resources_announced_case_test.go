// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crictl inspectp shows them.
func TestR1_VerboseStatusShowsWhatWasAnnounced(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	id, err := n.CRI().RunPod(withinAMinute(t), announced(t, n, "field", threeContainers()))
	require.NoError(t, err)
	promise(t, "R1", "verbose status shows what was announced of a pod", onStock("nothing is shown"), func(t require.TestingT) {
		assert.Contains(t, inspectp(t, n, id), `{"name":"side","type":"CONTAINER","kubernetesResources":{"requests":{"cpu":"250m","memory":"32Mi"}}}`)
	})
}
