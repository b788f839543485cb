// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckNamesMissingPrerequisites(t *testing.T) {
	if os.Geteuid() != 0 {
		require.ErrorContains(t, Options{}.Check(), "run as root")
		return
	}
	bin, tools := t.TempDir(), t.TempDir()
	options := Options{Bin: bin, Tools: tools}
	for _, program := range []struct{ folder, name, target string }{
		{bin, "containerd", "make build"},
		{bin, "containerd-shim-runc-v2", "make build"},
		{tools, "runc", "make tools"},
		{tools, "ptp", "make tools"},
		{tools, "host-local", "make tools"},
		{tools, "loopback", "make tools"},
	} {
		path := filepath.Join(program.folder, program.name)
		err := options.Check()
		require.ErrorIs(t, err, ErrPrerequisite)
		require.ErrorContains(t, err, path+": run `"+program.target+"`")
		require.NotContains(t, err.Error(), "\n")
		require.NoError(t, os.WriteFile(path, nil, 0o755))
	}
	t.Setenv("PATH", "")
	require.ErrorContains(t, options.Check(), "go is not in PATH")
}
