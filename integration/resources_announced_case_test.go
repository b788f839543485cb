// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/plugin"
	"github.com/hookline-nri/hookline/podresources"
)

// The field wins over the annotation.
func TestR1_FieldWinsOverTheAnnotation(t *testing.T) {
	t.Parallel()
	n := startTarget(t)
	p := plugin.New("10", "sums")
	connect(t, n, p)
	pod := announced(t, n, "annotation", podresources.Pod{Containers: []podresources.Container{{Name: "main", Type: podresources.MainContainer, Resources: requests("9", "9Gi")}}})
	require.NoError(t, podresources.SetPod(pod, threeContainers()))
	_, err := n.CRI().RunPod(withinAMinute(t), pod)
	require.NoError(t, err)
	promise(t, "R1", "what is in the field is told, not what is in the annotation", onStock(toldNothing), func(t require.TestingT) {
		assert.Equal(t, []string{allThree}, sumsTold(p, plugin.RunPodSandbox))
	})
}

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
