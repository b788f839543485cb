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

// process is a path of a process, and namespace that of a pod's network.
var process, namespace = regexp.MustCompile(`/proc/\d+/`), regexp.MustCompile(`cni-[-0-9a-f]+`)

// plain is a pod or Container as a plugin sees it that knows NRI's fields only,
// without what differs from one life to the next.
func plain(t T, l Life, m proto.Message) map[string]any {
	t.Helper()
	text, err := protojson.Marshal(m) // leaves out the others
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

// A plugin that does not know of resources sees the same life of a pod that has
// some as of one that has none.
var _ = Resources.has("R1_PluginThatDoesNotLookSeesTheSameAsEver", Needs{Announcements: true}, func(t T) {
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

	received, undelivered := p.Calls().Of(with.Pod), p.Calls().Of(without.Pod)
	require.Equal(t, Whole, received.Events())
	require.Equal(t, Whole, undelivered.Events())
	for i, event := range Whole {
		assert.Empty(t, cmp.Diff(plain(t, without, undelivered[i].Pod), plain(t, with, received[i].Pod)), "pod in %s", event)
		assert.Empty(t, cmp.Diff(plain(t, without, undelivered[i].Container), plain(t, with, received[i].Container)), "container in %s", event)
	}
	before, after := late.Calls().Only(plugin.Synchronize)[0], later.Calls().Only(plugin.Synchronize)[0]
	assert.Empty(t, cmp.Diff(plain(t, without, after.Pods[0]), plain(t, with, before.Pods[0])), "pod in Synchronize")
	assert.Empty(t, cmp.Diff(plain(t, without, after.Containers[0]), plain(t, with, before.Containers[0])), "container in Synchronize")
	t.Promise("R1", "there is something to see in each event for a plugin that looks", OnStock(DeliversNothing), func(t require.TestingT) {
		for _, call := range received {
			assert.NotNil(t, podresources.FromPod(call.Pod), "there was something to see in %s", call.Event)
		}
	})
})
