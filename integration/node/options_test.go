// SPDX-License-Identifier: Apache-2.0

package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckNamesWhatIsMissing(t *testing.T) {
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

func TestMountsOf(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mountinfo")
	text := strings.Join([]string{
		"22 1 254:0 / / rw,relatime - ext4 /dev/vda rw",
		"30 22 0:5 net:[4026532] /run/netns/x rw shared:9 master:1 - nsfs nsfs rw",
	}, "\n") + "\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	mounts, err := mountsOf(file)
	require.NoError(t, err)
	require.Equal(t, []mount{{"/", "ext4"}, {"/run/netns/x", "nsfs"}}, mounts)

	require.NoError(t, os.WriteFile(file, []byte("no mount\n"), 0o600))
	_, err = mountsOf(file)
	require.ErrorContains(t, err, `malformed line "no mount`)
}
