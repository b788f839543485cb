// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLinks(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		name = filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	write("README.md", "# One\n[a](docs/a.md#it-isnt-all) [b](docs/a.md#twice-1) [c](docs) [d](#one) [e](https://example.com/x#y) "+
		"`[f](gone.md)`\n\n```\n[g](gone.md)\n```\n![h](docs/gone.svg) [i](docs/a.md#twice-2) [j](docs/a.md?x#\"gone) [k][k]\n\n[k]: gone.md\n")
	write("docs/a.md", "## It isn't `all`!\n## Twice\n## Twice\n[up](../README.md#one)\n")
	require.EqualError(t, errors.Join(checkLinks(root, []string{"README.md", "docs/*.md", "gone/*.md"})...),
		"README.md: the link to docs/gone.svg: no such file\n"+
			"README.md: the link to docs/a.md#twice-2: the page has no such heading\n"+
			"README.md: the link to docs/a.md?x#\"gone: the page has no such heading\n"+
			"README.md: the link to gone.md: no such file\n"+
			"gone/*.md: no such page")
}
