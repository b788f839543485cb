// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
)

// crictl inspectp shows the announced resources.
var _ = Resources.has("R1_VerboseStatusShowsWhatWasAnnounced", Needs{Announcements: true}, func(t T) {
	n := t.Runtime()
	id, err := n.CRI().RunPod(WithinAMinute(t), Announced(t, n, "field", ThreeContainers()))
	require.NoError(t, err)
	t.Promise("R1", "verbose status shows the announced resources of a pod", OnStock("nothing is shown"), func(t require.TestingT) {
		assert.Contains(t, Inspectp(t, n, id), `{"name":"side","type":"CONTAINER","kubernetesResources":{"requests":{"cpu":"250m","memory":"32Mi"}}}`)
	})
})
