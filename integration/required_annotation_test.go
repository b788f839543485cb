// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// What pods require and tolerate by their annotations, with the default validator
// enabled, as its own documentation has them.
const (
	requiresKey  = "required-plugins.noderesource.dev"
	toleratesKey = "tolerate-missing-plugins.example.org"

	validating = `
[plugins.'io.containerd.nri.v1.nri'.default_validator]
enable = true
tolerate_missing_plugins_annotation = '` + toleratesKey + "'\n"
)

func TestL20_AnnotationsOfAPodHoldForItsSandbox(t *testing.T) {
	t.Parallel()
	waits := pluginSetting("must", "wait = '300ms'") + validating
	rule := pluginSetting("must", "required_for = ['pods']\nwait = '300ms'\n") + validating
	open, disabled := noRule+validating, noRule
	nodes := map[string]*node.Node{}
	for _, config := range []string{waits, rule, open, disabled} {
		nodes[config] = startNode(t, operator(config))
	}
	for name, tc := range map[string]struct {
		config      string
		annotations map[string]string
		refused     bool
		code        codes.Code
	}{
		"neither setting nor annotation": {config: open},
		"the setting alone":              {config: rule, refused: true, code: codes.Unavailable},
		"the annotation alone":           {config: waits, annotations: map[string]string{requiresKey: "[ must ]"}, refused: true, code: codes.Unavailable},
		"the annotation of the pod":      {config: waits, annotations: map[string]string{requiresKey + "/pod": "[ must ]"}, refused: true, code: codes.Unavailable},
		"both":                           {config: rule, annotations: map[string]string{requiresKey: "[ must ]"}, refused: true, code: codes.Unavailable},
		"that of a container":            {config: open, annotations: map[string]string{requiresKey + "/container.main": "[ must ]"}},
		"both, and a toleration":         {config: rule, annotations: map[string]string{requiresKey: "[ must ]", toleratesKey: "true"}},
		"a toleration of nothing":        {config: rule, annotations: map[string]string{toleratesKey: "false"}, refused: true, code: codes.Unavailable},
		"an annotation that is no list":  {config: open, annotations: map[string]string{requiresKey: "must"}, refused: true, code: codes.FailedPrecondition},
		"the validator is not enabled":   {config: disabled, annotations: map[string]string{requiresKey: "[ must ]"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, ctx := nodes[tc.config], withinAMinute(t)
			id, err := n.CRI().RunPod(ctx, podIn(n, "default", "pod", tc.annotations))
			if !tc.refused {
				promise(t, "L20", "the pod comes up", keptOnStock, func(t require.TestingT) { require.NoError(t, err) })
				endPod(ctx, t, n, id)
				return
			}
			t.Log(err)
			if err == nil { // on stock
				defer endPod(ctx, t, n, id)
			}
			promise(t, "L20", "the pod is refused", onStock("it looks at containers alone"), func(t require.TestingT) {
				requireReadable(t, err, tc.code, "must")
			})
		})
	}
}

// A pod that requires a plugin which has nothing to say of pods comes up with it,
// and its containers do with its word.
func TestL20_AnnotationIsMetByAPluginThatWantsContainersAlone(t *testing.T) {
	t.Parallel()
	n := startNode(t, operator(pluginSetting("must", "wait = '1s'")+validating))
	must := plugin.New("10", "must")
	must.Subscribe(plugin.CreateContainer)
	connect(t, n, must)
	ctx, c := withinAMinute(t), n.CRI()
	pod := podIn(n, "default", "pod", map[string]string{requiresKey: "[ must ]"})
	id, errPod := c.RunPod(ctx, pod)
	_, errCtr := c.Create(ctx, id, pod, c.Container("main"))
	promise(t, "L20", "pod and container come up", keptOnStock, func(t require.TestingT) {
		require.NoError(t, errPod)
		require.NoError(t, errCtr)
		assert.Len(t, must.Calls().Only(plugin.CreateContainer).Events(), 1)
	})
	must.Crash()
	requireSoon(t, "the plugin to be gone", func(context.Context) error { return isGone(t, n, must.Name()) })
	_, err := c.RunPod(ctx, podIn(n, "default", "next", map[string]string{requiresKey: "[ 10-must ]"}))
	promise(t, "L20", "the next pod does not come up without it", onStock("it looks at containers alone"), func(t require.TestingT) {
		requireReadable(t, err, codes.Unavailable, "required plugin 10-must is away since")
	})
}

// What a pod says of its containers, and what the operator does, hold for each container.
func TestL20_AnnotationsOfAPodHoldForItsContainers(t *testing.T) {
	t.Parallel()
	rule := pluginSetting("must", "required_for = ['containers']\nwait = '300ms'\n") + validating
	waits := pluginSetting("must", "wait = '300ms'") + validating
	nodes := map[string]*node.Node{}
	for _, config := range []string{rule, waits} {
		nodes[config] = startNode(t, operator(config))
	}
	const ofMain = requiresKey + "/container.main"
	for name, tc := range map[string]struct {
		config      string
		annotations map[string]string
		refused     bool
		stock       breach // of that
	}{
		"neither setting nor annotation":      {config: waits},
		"the setting alone":                   {config: rule, refused: true, stock: onStock(fixture.NotRequired)},
		"the annotation alone":                {config: waits, annotations: map[string]string{ofMain: "[ must ]"}, refused: true},
		"both":                                {config: rule, annotations: map[string]string{ofMain: "[ must ]"}, refused: true},
		"the annotation of another container": {config: waits, annotations: map[string]string{requiresKey + "/container.other": "[ must ]"}},
		"both, and a toleration":              {config: rule, annotations: map[string]string{ofMain: "[ must ]", toleratesKey: "true"}},
		"a toleration of nothing":             {config: rule, annotations: map[string]string{toleratesKey: "false"}, refused: true, stock: onStock(fixture.NotRequired)},
	} {
		t.Run(name, func(t *testing.T) {
			n, ctx := nodes[tc.config], withinAMinute(t)
			pod := podIn(n, "default", "pod", tc.annotations)
			id, err := n.CRI().RunPod(ctx, pod)
			require.NoError(t, err)
			_, err = n.CRI().Create(ctx, id, pod, n.CRI().Container("main"))
			t.Log(err)
			if !tc.refused {
				promise(t, "L20", "the container is created", keptOnStock, func(t require.TestingT) { require.NoError(t, err) })
			} else {
				promise(t, "L20", "the container is refused", tc.stock, func(t require.TestingT) { require.ErrorContains(t, err, "must") })
				promise(t, "L20", "the kubelet is told what is away", onStock("it comes up, or says what is missing without a code"), func(t require.TestingT) {
					requireUnavailable(t, err, "is away since")
				})
			}
			endPod(ctx, t, n, id)
		})
	}
}
