// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"iter"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The runtime is killed in the hook of a container. A plugin that was asked receives the
// container's end, before that of its pod. A plugin that was not asked receives nothing.
func TestL18_CreationCutByAKillEnds(t *testing.T) {
	t.Parallel()
	for what, test := range map[string]struct {
		listed   []string // after the kill
		cut      []Object
		received string
	}{
		"container":                            {[]string{"p1"}, []Object{{Pod: "p1", Container: "c1"}}, "Synchronize(p1) StopContainer:p1/c1 RemoveContainer:p1/c1"},
		"container whose pod has gone":         {nil, []Object{{Pod: "p1", Container: "c1"}}, "Synchronize() StopContainer:p1/c1 RemoveContainer:p1/c1"},
		"container that has a record":          {[]string{"p1", "p1/c1"}, []Object{{Pod: "p1", Container: "c1"}}, "Synchronize(p1 p1/c1)"},
		"container that has exited":            {[]string{"p1", "p1/c1!"}, []Object{{Pod: "p1", Container: "c1"}}, "Synchronize(p1)"},
		"pod":                                  {nil, []Object{{Pod: "p1"}}, "Synchronize() StopPodSandbox:p1 RemovePodSandbox:p1"},
		"pod that has a record":                {[]string{"p1"}, []Object{{Pod: "p1"}}, "Synchronize(p1)"},
		"pod and container, and both are gone": {nil, []Object{{Pod: "p1", Container: "c1"}, {Pod: "p1"}}, "Synchronize() " + lifeAndEnd},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := newRemembering(t)
				asked, not := newPlugin("10-asked"), newPlugin("20-not")
				o.joined(asked, not)
				o.kill()
				o.change = func(opts *Options) {
					opts.Cut = func() iter.Seq2[string, Object] {
						return func(yield func(string, Object) bool) {
							for _, c := range test.cut {
								if !yield("10-asked", c) {
									return
								}
							}
						}
					}
				}
				o.start(t, test.listed...)
				assert.Equal(t, test.received, o.again(asked).received())
				require.NotContains(t, o.again(not).received(), "Remove")
			})
		})
	}
}

// A container was cut in its creation by a kill. Its pod exists after the kill, and ends before
// the plugin is back: the container ends before the pod.
func TestL18_CreationCutByAKillEndsBeforeItsPod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newRemembering(t)
		a := newPlugin("10-a")
		o.joined(a)
		o.did("RunPodSandbox:p1")
		o.kill()
		o.change = func(opts *Options) {
			opts.Cut = func() iter.Seq2[string, Object] {
				return func(yield func(string, Object) bool) { yield("10-a", Object{Pod: "p1", Container: "c1"}) }
			}
		}
		o.start(t, "p1")
		o.end("StopPodSandbox:p1")
		o.end("RemovePodSandbox:p1")
		o.lists()
		assert.Equal(t, "Synchronize() StopContainer:p1/c1 RemoveContainer:p1/c1 StopPodSandbox:p1 RemovePodSandbox:p1", o.again(a).received())
	})
}
