// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Plugins run in containers with an image of their own, like those of a DaemonSet: a reserved name
// is for those of its namespace. The thief shares only the socket with them.
func TestL21_ThiefInAnImageOfAnotherNamespaceIsRejected(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(PluginSetting("must", "allowed_namespaces = ['net-system']")))
	name := importScripted(t.Context(), t, n)
	ctx := WithinAMinute(t)
	must, free := plugin.Script{Index: "10", Name: "must"}, plugin.Script{Index: "20", Name: "free"}
	thief := runsInImage(ctx, t, n, name, "default", must)
	Promise(t, "L21", "the thief is rejected before Configure", OnStock(anybodyMay), func(t require.TestingT) {
		RequireSoon(t, "an answer", func(context.Context) error {
			return thief.has(plugin.Synchronize, "namespace default is none of [net-system]")
		})
		require.Empty(t, thief.read().calls, "it received events")
	})
	for namespace, script := range map[string]plugin.Script{"net-system": must, "other": free} {
		p := runsInImage(ctx, t, n, name, namespace, script)
		Promise(t, "L21", "a plugin in "+namespace+" registers as "+script.Name, KeptOnStock, func(t require.TestingT) {
			RequireSoon(t, "it to join", func(context.Context) error { return p.has(plugin.Synchronize, "") })
			require.Empty(t, p.read().keptOut)
		})
	}
}

// logged is the record of a plugin in the log of its container.
type logged struct{ path string }

type loggedRecord struct {
	calls   []plugin.Event
	keptOut string
}

// importScripted gives a node an image whose program is a plugin that runs a script.
func importScripted(ctx context.Context, t *testing.T, n *node.Node) (name string) {
	t.Helper()
	name = "localhost/hookline/scripted:1"
	program := filepath.Join(t.TempDir(), "scripted")
	require.NoError(t, image.Build(ctx, program, "github.com/hookline-nri/hookline/integration/scripted"))
	content, err := os.ReadFile(program)
	require.NoError(t, err)
	require.NoError(t, n.Import(ctx, name, content))
	return name
}

// runsInImage runs a plugin in a container of an image, in a pod of a namespace.
func runsInImage(ctx context.Context, t *testing.T, n *node.Node, name, namespace string, script plugin.Script, change ...func(*runtime.ContainerConfig)) logged {
	t.Helper()
	const socket = "/nri.sock"
	c, pod := n.CRI(), podOfPlugin(n, namespace, "image-in-"+namespace+script.Index)
	pod.LogDirectory = t.TempDir()
	id, err := c.RunPod(ctx, pod)
	require.NoError(t, err)
	container := c.Container("plugin")
	container.Image.Image, container.LogPath = name, "plugin.log"
	container.Mounts = []*runtime.Mount{{HostPath: n.NRISocket(), ContainerPath: socket}}
	environment, err := script.Environment(socket)
	require.NoError(t, err)
	for _, variable := range environment {
		key, value, _ := strings.Cut(variable, "=")
		container.Envs = append(container.Envs, &runtime.KeyValue{Key: key, Value: []byte(value)})
	}
	for _, f := range change {
		f(container)
	}
	created, err := c.Create(ctx, id, pod, container)
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, created))
	return logged{filepath.Join(pod.LogDirectory, container.LogPath)}
}

// read reads the plugin's record so far.
func (l logged) read() (r loggedRecord) {
	content, _ := os.ReadFile(l.path) // it may not exist yet
	for line := range strings.Lines(string(content)) {
		_, text, _ := strings.Cut(line, " F ") // after time and stream, in CRI's log format
		var received struct {
			Event   plugin.Event
			KeptOut string
		}
		if json.Unmarshal([]byte(text), &received) != nil {
			continue
		}
		if received.Event != "" {
			r.calls = append(r.calls, received.Event)
		}
		r.keptOut += received.KeptOut
	}
	return r
}

// has returns nil if the plugin has received an event or, with words, if it was rejected with them.
func (l logged) has(event plugin.Event, words string) error {
	r := l.read()
	switch {
	case words != "" && strings.Contains(r.keptOut, words), slices.Contains(r.calls, event):
		return nil
	case r.keptOut != "":
		return errors.New("kept out: " + r.keptOut)
	}
	return errors.New("it has no answer")
}
