// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// All containers' resources are known in RunPodSandbox, and again after a restart.
func TestR1_ResourcesOfAllContainersAreTold(t *testing.T) {
	t.Parallel()
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			n := startNode(t, readingAnnotation)
			p := plugin.New("10", "sums")
			connect(t, n, p)
			ctx, c := withinAMinute(t), n.CRI()
			pod := announced(t, n, how, inFull())
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			promise(t, "R1", "all containers' resources are told with RunPodSandbox", onStock(toldNothing), func(t require.TestingT) {
				assert.Equal(t, []string{allThree}, sumsTold(p, plugin.RunPodSandbox))
				requireTold(t, p, plugin.RunPodSandbox, inFull())
			})

			late := plugin.New("20", "late")
			connect(t, n, late)
			after := joinAfterKill(t, n)
			_, err = c.Create(ctx, id, pod, c.Container("side"))
			require.NoError(t, err)
			require.NoError(t, c.StopPod(ctx, id))
			require.NoError(t, c.RemovePod(ctx, id))
			promise(t, "R1", "they are told in Synchronize", onStock(toldNothing), func(t require.TestingT) {
				requireTold(t, late, plugin.Synchronize, inFull())
			})
			promise(t, "R1", "they are told in Synchronize after a restart", onStock(toldNothing), func(t require.TestingT) {
				assert.Equal(t, []string{allThree}, sumsTold(after, plugin.Synchronize))
				requireTold(t, after, plugin.Synchronize, inFull())
			})
			promise(t, "R1", "they are told with each event after a restart", onStock(toldNothing), func(t require.TestingT) {
				for _, event := range []plugin.Event{plugin.CreateContainer, plugin.StopPodSandbox, plugin.RemovePodSandbox} {
					requireTold(t, after, event, inFull())
				}
			})
			promise(t, "R2", "a container has what was announced of it", onStock(toldNothing), func(t require.TestingT) {
				assert.Equal(t, []string{"CreateContainer 250m"}, cpusTold(after, plugin.CreateContainer))
			})
		})
	}
}

// The field wins over the annotation.
func TestR1_FieldWinsOverTheAnnotation(t *testing.T) {
	t.Parallel()
	n := startNode(t, readingAnnotation)
	p := plugin.New("10", "sums")
	connect(t, n, p)
	pod := announced(t, n, "annotation", podresources.Pod{Containers: []podresources.Container{{Name: "main", Type: podresources.MainContainer, Resources: requests("1", "1Mi")}}})
	require.NoError(t, podresources.SetPod(pod, threeContainers()))
	_, err := n.CRI().RunPod(withinAMinute(t), pod)
	require.NoError(t, err)
	promise(t, "R1", "what is in the field is told, not what is in the annotation", onStock(toldNothing), func(t require.TestingT) {
		assert.Equal(t, []string{allThree}, sumsTold(p, plugin.RunPodSandbox))
	})
}

// Whoever makes a pod can write its annotations, and may not be trusted with them.
func TestR1_AnnotationIsNotReadUnlessThatIsSet(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	p := plugin.New("10", "sums")
	connect(t, n, p)
	ctx, c := withinAMinute(t), n.CRI()
	for _, how := range []string{"annotation", "field"} {
		id, err := c.RunPod(ctx, announced(t, n, how, threeContainers()))
		require.NoError(t, err)
		if how == "annotation" {
			assert.Empty(t, inspectp(t, n, id))
		}
		require.NoError(t, c.RemovePod(ctx, id))
	}
	ignored, err := n.Metrics(ctx, resourcesIgnored)
	require.NoError(t, err)
	assert.Empty(t, ignored, "it is not bad, only not read")
	assert.Equal(t, "untold", sumsTold(p, plugin.RunPodSandbox)[0])
	promise(t, "R1", "what is in the field is told where the annotation is not read", onStock(toldNothing), func(t require.TestingT) {
		assert.Equal(t, allThree, sumsTold(p, plugin.RunPodSandbox)[1])
	})
}

// The shim of a sandbox gets them with CreateSandbox, wherever they came from.
func TestR1_ShimThatMakesSandboxesIsTold(t *testing.T) {
	t.Parallel()
	for how, stock := range map[string]breach{"field": keptOnStock, "annotation": onStock("the shim has to know the annotation")} {
		t.Run(how, func(t *testing.T) {
			n := startSandboxer(t, func(o *node.Options) {
				o.Config += "\n[plugins.'io.containerd.cri.v1.runtime']\n" + readsAnnotation + "\n"
			})
			id, err := n.CRI().RunPod(withinAMinute(t), announced(t, n, how, inFull()))
			require.NoError(t, err)
			promise(t, "R1", "the shim that makes a sandbox is told what was announced of its pod", stock, func(t require.TestingT) {
				got, err := podresources.FromConfig(shimsConfig(t, n, id))
				require.NoError(t, err)
				want := inFull()
				assert.Empty(t, cmp.Diff(&want, got), "(- announced, + told)")
			})
		})
	}
}
