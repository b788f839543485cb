// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The resources of all containers are in RunPodSandbox, and also after a restart.
func TestR1_ResourcesOfAllContainersAreDelivered(t *testing.T) {
	t.Parallel()
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			n := StartNode(t, readingAnnotation)
			p := plugin.New("10", "sums")
			Connect(t, n, p)
			ctx, c := WithinAMinute(t), n.CRI()
			pod := Announced(t, n, how, InFull())
			id, err := c.RunPod(ctx, pod)
			require.NoError(t, err)
			Promise(t, "R1", "RunPodSandbox has the resources of all containers", OnStock(DeliversNothing), func(t require.TestingT) {
				assert.Equal(t, []string{AllThree}, SumsDelivered(p, plugin.RunPodSandbox))
				requireDelivered(t, p, plugin.RunPodSandbox, InFull())
			})

			late := plugin.New("20", "late")
			Connect(t, n, late)
			after := joinAfterKill(t, n)
			_, err = c.Create(ctx, id, pod, c.Container("side"))
			require.NoError(t, err)
			require.NoError(t, c.StopPod(ctx, id))
			require.NoError(t, c.RemovePod(ctx, id))
			Promise(t, "R1", "Synchronize has them", OnStock(DeliversNothing), func(t require.TestingT) {
				requireDelivered(t, late, plugin.Synchronize, InFull())
			})
			Promise(t, "R1", "Synchronize has them after a restart", OnStock(DeliversNothing), func(t require.TestingT) {
				assert.Equal(t, []string{AllThree}, SumsDelivered(after, plugin.Synchronize))
				requireDelivered(t, after, plugin.Synchronize, InFull())
			})
			Promise(t, "R1", "each event has them after a restart", OnStock(DeliversNothing), func(t require.TestingT) {
				for _, event := range []plugin.Event{plugin.CreateContainer, plugin.StopPodSandbox, plugin.RemovePodSandbox} {
					requireDelivered(t, after, event, InFull())
				}
			})
			Promise(t, "R2", "a container has its announced resources", OnStock(DeliversNothing), func(t require.TestingT) {
				assert.Equal(t, []string{"CreateContainer 250m"}, CPUsDelivered(after, plugin.CreateContainer))
			})
		})
	}
}

// The field wins over the annotation.
func TestR1_FieldWinsOverTheAnnotation(t *testing.T) {
	t.Parallel()
	n := StartNode(t, readingAnnotation)
	p := plugin.New("10", "sums")
	Connect(t, n, p)
	pod := Announced(t, n, "annotation", podresources.Pod{Containers: []podresources.Container{{Name: "main", Type: podresources.MainContainer, Resources: Requests("1", "1Mi")}}})
	require.NoError(t, podresources.SetPod(pod, ThreeContainers()))
	_, err := n.CRI().RunPod(WithinAMinute(t), pod)
	require.NoError(t, err)
	Promise(t, "R1", "plugins receive the resources in the field, and not those in the annotation", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, []string{AllThree}, SumsDelivered(p, plugin.RunPodSandbox))
	})
}

// The creator of a pod can write its annotations, and may not be trusted.
func TestR1_AnnotationIsNotReadUnlessThatIsSet(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	p := plugin.New("10", "sums")
	Connect(t, n, p)
	ctx, c := WithinAMinute(t), n.CRI()
	for _, how := range []string{"annotation", "field"} {
		id, err := c.RunPod(ctx, Announced(t, n, how, ThreeContainers()))
		require.NoError(t, err)
		if how == "annotation" {
			assert.Empty(t, Inspectp(t, n, id))
		}
		require.NoError(t, c.RemovePod(ctx, id))
	}
	ignored, err := n.Metrics(ctx, resourcesIgnored)
	require.NoError(t, err)
	assert.Empty(t, ignored, "it is not read, and so is no bad input")
	assert.Equal(t, "absent", SumsDelivered(p, plugin.RunPodSandbox)[0])
	Promise(t, "R1", "plugins receive the resources in the field if the annotation is not read", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, AllThree, SumsDelivered(p, plugin.RunPodSandbox)[1])
	})
}

// A shim that makes sandboxes receives the resources with CreateSandbox, from the field and from
// the annotation.
func TestR1_ShimThatMakesSandboxesReceivesThem(t *testing.T) {
	t.Parallel()
	for how, stock := range map[string]Breach{"field": KeptOnStock, "annotation": OnStock("the shim must read the annotation itself")} {
		t.Run(how, func(t *testing.T) {
			n := StartSandboxer(t, func(o *node.Options) {
				o.Config += "\n[plugins.'io.containerd.cri.v1.runtime']\n" + readsAnnotation + "\n"
			})
			id, err := n.CRI().RunPod(WithinAMinute(t), Announced(t, n, how, InFull()))
			require.NoError(t, err)
			Promise(t, "R1", "the shim that makes a sandbox receives the announced resources of its pod", stock, func(t require.TestingT) {
				got, err := podresources.FromConfig(ShimsConfig(t, n, id))
				require.NoError(t, err)
				want := InFull()
				assert.Empty(t, cmp.Diff(&want, got), "(- announced, + received)")
			})
		})
	}
}
