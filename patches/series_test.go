// SPDX-License-Identifier: Apache-2.0

package patches

import (
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/edit"
)

// A patch without a reason, a reference or an end is refused.
func TestSeriesIsValid(t *testing.T) {
	require.NoError(t, Series.Validate())
}

// Every folder below files/ is a patch's: a forgotten one would look like part
// of the product and be none.
func TestEveryFolderIsAPatchs(t *testing.T) {
	brought := map[string]bool{}
	for _, p := range Series.Patches {
		brought[p.Folder()] = true
	}
	for _, m := range Series.Modules {
		folders, err := fs.ReadDir(os.DirFS(".."), edit.Folders(m.Name))
		require.NoError(t, err)
		for _, f := range folders {
			require.True(t, brought[edit.Folders(m.Name)+"/"+f.Name()], "no patch has the folder %s", f.Name())
		}
	}
}
