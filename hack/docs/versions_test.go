// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVersions(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
	}
	write("go.mod", "module m\n\nrequire (\n\tgithub.com/containerd/containerd/v2 v2.9.1\n\tgithub.com/containerd/nri v0.20.0\n\tgithub.com/containerd/go-cni v1.5.0\n)\n")
	write("hack/targets/v2.3.0/go.mod", "module t\n\nrequire github.com/containerd/containerd/v2 v2.3.0\n")
	write("hack/targets/v2.8.0/go.mod", "module t\n\nrequire (\n\tgithub.com/containerd/containerd/v2 v2.8.0\n\tgithub.com/containerd/nri v0.19.0\n)\n")
	c, err := versionContent(Repository{Root: root})
	require.NoError(t, err)
	require.Equal(t, "| containerd | with | build | test |\n|---|---|---|---|\n"+
		"| v2.9.1 | NRI v0.20.0, go-cni v1.5.0 | `make build` | `make test` |\n"+
		"| v2.3.0 | NRI v0.20.0, go-cni v1.5.0 | `make build TARGET=v2.3.0` | `make test TARGET=v2.3.0` |\n"+
		"| v2.8.0 | NRI v0.19.0, go-cni v1.5.0 | `make build TARGET=v2.8.0` | `make test TARGET=v2.8.0` |\n", c.text)
}
