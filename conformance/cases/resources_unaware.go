// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// process matches a path in /proc, and namespace the name of a pod's network namespace.
var process, namespace = regexp.MustCompile(`/proc/\d+/`), regexp.MustCompile(`cni-[-0-9a-f]+`)

// plain is a pod or container as a plugin sees it that knows only NRI's fields, without the
// fields that differ from one life to the next.
func plain(t T, l Life, m proto.Message) map[string]any {
	t.Helper()
	text, err := protojson.Marshal(m) // leaves out unknown fields
	require.NoError(t, err)
	same := strings.NewReplacer(l.Pod, "POD", l.Container, "CONTAINER").Replace(string(text))
	same = namespace.ReplaceAllString(process.ReplaceAllString(same, "/proc/PID/"), "NETWORK")
	var seen map[string]any
	require.NoError(t, json.Unmarshal([]byte(same), &seen))
	for _, key := range []string{"pid", "ips", "createdAt", "startedAt", "finishedAt"} {
		delete(seen, key)
	}
	return seen
}

// A plugin that does not know of resources sees no difference between the lives of a pod with
// resources and of one without.
var _ = Resources.has("R1_PluginUnawareOfResourcesSeesNoDifference", Needs{Announcements: true}, func(t T) {
	n := t.Runtime()
	p := NewPlugin(t, "10", "unaware")
	Connect(t, n, p)
	with := NewLifeOf(t, n, Announced(t, n, "field", InFull()))
	late := NewPlugin(t, "20", "late")
	Connect(t, n, late)
	with.End(t)
	without := NewLife(t, n, "web")
	later := NewPlugin(t, "30", "later")
	Connect(t, n, later)
	without.End(t)

	callsWith, callsWithout := p.Calls().Of(with.Pod), p.Calls().Of(without.Pod)
	require.Equal(t, Whole, callsWith.Events())
	require.Equal(t, Whole, callsWithout.Events())
	for i, event := range Whole {
		assert.Empty(t, cmp.Diff(plain(t, without, callsWithout[i].Pod), plain(t, with, callsWith[i].Pod)), "pod in %s", event)
		assert.Empty(t, cmp.Diff(plain(t, without, callsWithout[i].Container), plain(t, with, callsWith[i].Container)), "container in %s", event)
	}
	before, after := late.Calls().Only(plugin.Synchronize)[0], later.Calls().Only(plugin.Synchronize)[0]
	assert.Empty(t, cmp.Diff(plain(t, without, after.Pods[0]), plain(t, with, before.Pods[0])), "pod in Synchronize")
	assert.Empty(t, cmp.Diff(plain(t, without, after.Containers[0]), plain(t, with, before.Containers[0])), "container in Synchronize")
	t.Promise("R1", "each event has the resources, for a plugin that reads them", OnStock(DeliversNothing), func(t require.TestingT) {
		for _, call := range callsWith {
			assert.NotNil(t, podresources.FromPod(call.Pod), "resources in %s", call.Event)
		}
	})
})
