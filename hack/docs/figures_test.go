// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFigures(t *testing.T) {
	root := t.TempDir()
	page := filepath.Join(root, "performance.md")
	require.NoError(t, os.WriteFile(page, []byte(`| Scenario | Stock | Patched | Ratio |
|---|---|---|---|
| RunPodSandbox | 84.29 ms ± 5 % | 67.00 ms ± 7 % | 0.79 | p=0.000 n=40 |
| StopPodSandbox | 2 ms | 1 ms | 0.50 |
| RemovePodSandbox | 2 ms |

| RunPodSandbox | 3 calls |
`), 0o644))
	c, err := figureContent(Repository{Root: root}, Pages{Figures: "performance.md"})
	require.NoError(t, err)
	require.Equal(t, `| | stock | hookline | ratio |
|---|---|---|---|
| RunPodSandbox | 84.29 ms | 67.00 ms | 0.79 |
| StopPodSandbox | 2 ms | 1 ms | 0.50 |
`, c.text)
	require.Len(t, c.problems, 5)
	require.ErrorContains(t, c.problems[0], `performance.md: no line "RemovePodSandbox" with its figures`)
}
