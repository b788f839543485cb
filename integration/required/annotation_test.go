// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// The annotations with which pods require and tolerate plugins, with the default validator enabled,
// as in its documentation.
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
	waits := PluginSetting("must", "wait = '300ms'") + validating
	rule := PluginSetting("must", "required_for = ['pods']\nwait = '300ms'\n") + validating
	tolerant := PluginSetting("must", "required_for = ['pods']\nwait = '300ms'\nallow_toleration = true\n") + validating
	open, disabled := NoRule+validating, NoRule
	nodes := map[string]*node.Node{}
	for _, config := range []string{waits, rule, tolerant, open, disabled} {
		nodes[config] = StartNode(t, WithConfig(config))
	}
	for name, tc := range map[string]struct {
		config      string
		annotations map[string]string
		rejected    bool
		code        codes.Code
	}{
		"neither setting nor annotation": {config: open},
		"the setting alone":              {config: rule, rejected: true, code: codes.Unavailable},
		"the annotation alone":           {config: waits, annotations: map[string]string{requiresKey: "[ must ]"}, rejected: true, code: codes.Unavailable},
		"the annotation of the pod":      {config: waits, annotations: map[string]string{requiresKey + "/pod": "[ must ]"}, rejected: true, code: codes.Unavailable},
		"both":                           {config: rule, annotations: map[string]string{requiresKey: "[ must ]"}, rejected: true, code: codes.Unavailable},
		"the annotation of a container":  {config: open, annotations: map[string]string{requiresKey + "/container.main": "[ must ]"}},
		"both, and a toleration":         {config: tolerant, annotations: map[string]string{requiresKey: "[ must ]", toleratesKey: "true"}},
		"a toleration of the annotation": {config: waits, annotations: map[string]string{requiresKey: "[ must ]", toleratesKey: "true"}},
		"one that is not allowed":        {config: rule, annotations: map[string]string{toleratesKey: "true"}, rejected: true, code: codes.Unavailable},
		"a toleration of nothing":        {config: rule, annotations: map[string]string{toleratesKey: "false"}, rejected: true, code: codes.Unavailable},
		"an annotation that is no list":  {config: open, annotations: map[string]string{requiresKey: "must"}, rejected: true, code: codes.FailedPrecondition},
		"the validator is not enabled":   {config: disabled, annotations: map[string]string{requiresKey: "[ must ]"}},
	} {
		t.Run(name, func(t *testing.T) {
			n, ctx := nodes[tc.config], WithinAMinute(t)
			id, err := n.CRI().RunPod(ctx, PodIn(n, "default", "pod", tc.annotations))
			if !tc.rejected {
				Promise(t, "L20", "the pod starts", KeptOnStock, func(t require.TestingT) { require.NoError(t, err) })
				EndPod(ctx, t, n, id)
				return
			}
			t.Log(err)
			if err == nil { // as on stock
				defer EndPod(ctx, t, n, id)
			}
			Promise(t, "L20", "the pod is rejected", OnStock("it checks containers alone"), func(t require.TestingT) {
				RequireReadable(t, err, tc.code, "must")
			})
		})
	}
}

// A pod requires a plugin that subscribes to no events of pods. The pod starts while the plugin is
// connected, and its containers start with the plugin's approval.
func TestL20_AnnotationIsMetByAPluginThatWantsContainersAlone(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(PluginSetting("must", "wait = '1s'")+validating))
	must := plugin.New("10", "must")
	must.Subscribe(plugin.CreateContainer)
	Connect(t, n, must)
	ctx, c := WithinAMinute(t), n.CRI()
	pod := PodIn(n, "default", "pod", map[string]string{requiresKey: "[ must ]"})
	id, errPod := c.RunPod(ctx, pod)
	_, errCtr := c.Create(ctx, id, pod, c.Container("main"))
	Promise(t, "L20", "pod and container start", KeptOnStock, func(t require.TestingT) {
		require.NoError(t, errPod)
		require.NoError(t, errCtr)
		assert.Len(t, must.Calls().Only(plugin.CreateContainer).Events(), 1)
	})
	must.Crash()
	RequireSoon(t, "the plugin to be disconnected", func(context.Context) error { return IsGone(t, n, must.Name()) })
	_, err := c.RunPod(ctx, PodIn(n, "default", "next", map[string]string{requiresKey: "[ 10-must ]"}))
	Promise(t, "L20", "the next pod does not start without it", OnStock("it checks containers alone"), func(t require.TestingT) {
		RequireReadable(t, err, codes.Unavailable, "required plugin 10-must is disconnected since")
	})
}

// The annotations of a pod about its containers, and the operator's settings, hold for each
// container.
func TestL20_AnnotationsOfAPodHoldForItsContainers(t *testing.T) {
	t.Parallel()
	rule := PluginSetting("must", "required_for = ['containers']\nwait = '300ms'\n") + validating
	waits := PluginSetting("must", "wait = '300ms'") + validating
	nodes := map[string]*node.Node{}
	tolerant := PluginSetting("must", "required_for = ['containers']\nwait = '300ms'\nallow_toleration = true\n") + validating
	for _, config := range []string{rule, tolerant, waits} {
		nodes[config] = StartNode(t, WithConfig(config))
	}
	const ofMain = requiresKey + "/container.main"
	for name, tc := range map[string]struct {
		config      string
		annotations map[string]string
		rejected    bool
		stock       Breach // of the rejection
	}{
		"neither setting nor annotation":      {config: waits},
		"the setting alone":                   {config: rule, rejected: true, stock: OnStock(NotRequired)},
		"the annotation alone":                {config: waits, annotations: map[string]string{ofMain: "[ must ]"}, rejected: true},
		"both":                                {config: rule, annotations: map[string]string{ofMain: "[ must ]"}, rejected: true},
		"the annotation of another container": {config: waits, annotations: map[string]string{requiresKey + "/container.other": "[ must ]"}},
		"both, and a toleration":              {config: tolerant, annotations: map[string]string{ofMain: "[ must ]", toleratesKey: "true"}},
		"a toleration that is not allowed":    {config: rule, annotations: map[string]string{toleratesKey: "true"}, rejected: true, stock: OnStock(NotRequired)},
		"a toleration of nothing":             {config: rule, annotations: map[string]string{toleratesKey: "false"}, rejected: true, stock: OnStock(NotRequired)},
	} {
		t.Run(name, func(t *testing.T) {
			n, ctx := nodes[tc.config], WithinAMinute(t)
			pod := PodIn(n, "default", "pod", tc.annotations)
			id, err := n.CRI().RunPod(ctx, pod)
			require.NoError(t, err)
			_, err = n.CRI().Create(ctx, id, pod, n.CRI().Container("main"))
			t.Log(err)
			if !tc.rejected {
				Promise(t, "L20", "the container is created", KeptOnStock, func(t require.TestingT) { require.NoError(t, err) })
			} else {
				Promise(t, "L20", "the container is rejected", tc.stock, func(t require.TestingT) { require.ErrorContains(t, err, "must") })
				Promise(t, "L20", "the error names the disconnected plugin", OnStock("the container starts, or the error has no code"), func(t require.TestingT) {
					RequireUnavailable(t, err, "is disconnected since")
				})
			}
			EndPod(ctx, t, n, id)
		})
	}
}
