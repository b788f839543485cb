// SPDX-License-Identifier: Apache-2.0

package required

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// An operator's settings of a plugin may be in several imported files: each adds settings, and if
// two files have the same setting, the last one replaces it as a whole.
func TestL20_DropInFilesAddToTheTableOfPlugins(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule))
	folder := filepath.Join(n.Folder(), "conf.d")
	require.NoError(t, os.Mkdir(folder, 0o755))
	const table = "[plugins.'io.containerd.nri.v1.nri'.plugins.%s]\n%s\n"
	for file, says := range map[string]string{
		"10-must.toml":  fmt.Sprintf(table, "must", "required_for = ['pods']\nexempt_namespaces = ['early']\nwait = '300ms'"),
		"20-other.toml": fmt.Sprintf(table, "other", "required_for = ['pods']\nexempt_namespaces = ['early', 'late', 'default']\nwait = '300ms'"),
		"30-more.toml":  fmt.Sprintf(table, "must", "exempt_namespaces = ['late', 'device']"),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, file), []byte(NoRule+says), 0o644))
	}
	require.NoError(t, SaysNow(t, n, fmt.Sprintf(NoRule+"imports = [%q]\n", filepath.Join(folder, "*.toml"))))
	ctx, c := WithinAMinute(t), n.CRI()
	for namespace, wants := range map[string]string{"default": "must", "early": "must", "late": "", "device": "other"} {
		_, err := c.RunPod(ctx, PodIn(n, namespace, "pod", nil))
		if wants == "" {
			Promise(t, "L20", "a pod of "+namespace+" starts", KeptOnStock, func(t require.TestingT) { require.NoError(t, err) })
			continue
		}
		Promise(t, "L20", "a pod of "+namespace+" is rejected for "+wants, OnStock(NotRequired), func(t require.TestingT) {
			RequireReadable(t, err, codes.Unavailable, "required plugin "+wants)
		})
	}
	Promise(t, "L17", "the status shows both plugins with the settings of all files", OnStock("it does not know the table"), func(t require.TestingT) {
		required := ReadNRI(t, n).RequiredPlugins
		require.Len(t, required, 2)
		assert.Equal(t, "must", required[0].Name)
		assert.Equal(t, []string{"pods"}, required[0].RequiredFor)
		assert.Equal(t, "other", required[1].Name)
	})
	RemoveAllPods(ctx, t, c)
	RequireNothingLeft(t, n)
}
