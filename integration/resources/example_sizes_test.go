// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// The example plugin prints the requests of each pod, whenever they change.
func TestR1_ExamplePluginLogsWhatPodsRequest(t *testing.T) {
	t.Parallel()
	n, program := StartNode(t), example(t, "sizes")
	ctx, c := WithinAMinute(t), n.CRI()
	there := NewLifeOf(t, n, Announced(t, n, "field", ThreeContainers()))
	table, err := os.Create(filepath.Join(t.TempDir(), "table"))
	require.NoError(t, err)
	defer func() { assert.NoError(t, table.Close()) }()
	printed := func() string {
		text, err := os.ReadFile(table.Name())
		require.NoError(t, err)
		return string(text)
	}
	stop := runExample(t, n, program, table)
	adopted := func(context.Context) error {
		if !strings.HasPrefix(printed(), "default/web ") {
			return fmt.Errorf("printed: %q", printed())
		}
		return nil
	}
	RequireSoon(t, "the pod to be adopted", adopted)
	plain, err := c.RunPod(ctx, c.Pod("plain"))
	require.NoError(t, err)
	require.NoError(t, c.RemovePod(ctx, plain))
	require.NoError(t, update(ctx, n, there.Container, Requests("1500m", "128Mi")))
	require.NoError(t, update(ctx, n, there.Container, Requests("3", "128Mi")))
	require.NoError(t, updatePod(ctx, n, there.Pod, ThreeContainers()))
	require.NoError(t, update(ctx, n, there.Container, Requests("4", "128Mi")))
	Promise(t, "R1", "a plugin receives the requests of pods, and their changes", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, `default/web requests cpu 2, memory 160Mi
default/plain is not announced
default/plain is gone
default/web requests cpu 3250m, memory 160Mi
default/web requests cpu 2, memory 160Mi
default/web requests cpu 4250m, memory 160Mi
`, printed())
	})

	// The plugin is restarted after the runtime.
	stop()
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	require.NoError(t, table.Truncate(0))
	_, err = table.Seek(0, io.SeekStart)
	require.NoError(t, err)
	stop = runExample(t, n, program, table)
	RequireSoon(t, "the pod to be adopted again", adopted)
	there.End(t)
	if !RunsOnStock { // on stock it does not receive the end
		RequireSoon(t, "the end of the pod, which a joining plugin may receive late", func(context.Context) error {
			if !strings.HasSuffix(printed(), " is gone\n") {
				return fmt.Errorf("printed: %q", printed())
			}
			return nil
		})
	}
	stop()
	Promise(t, "R1", "a plugin that is restarted after the runtime receives the requests of pods", OnStock(DeliversNothing), func(t require.TestingT) {
		assert.Equal(t, "default/web requests cpu 4250m, memory 160Mi\ndefault/web is gone\n", printed())
	})
}
