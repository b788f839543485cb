// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A patch without a reason, a reference or an end is refused.
func TestSeriesIsValid(t *testing.T) {
	require.NoError(t, Series.Validate())
}

// Every file below files/ is brought by a patch: a forgotten one would look
// like part of the product and be none.
func TestEveryFileIsBrought(t *testing.T) {
	brought := map[string]bool{}
	for _, p := range Series.Patches {
		for _, f := range p.Files {
			require.False(t, brought[f.From], "%s brings %s, and so does a patch before it", p.Slug, f.From)
			brought[f.From] = true
		}
	}
	for _, m := range Series.Modules {
		root := filepath.Join(m.Name, "files")
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			require.True(t, brought["patches/"+filepath.ToSlash(path)], "no patch brings %s", path)
			return nil
		})
		require.NoError(t, err)
	}
}
