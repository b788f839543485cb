// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/integration/plugin"
)

// The runtime starts whatever is among the notes of creations, and serves.
func TestL22_RuntimeStartsWhateverIsAmongTheCreations(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	folder := filepath.Join(n.Folder(), "state", "io.containerd.nri.v1.nri", "creations")
	path := filepath.Join(folder, "alien")
	for is, put := range map[string]func() error{
		"a folder":          func() error { return os.MkdirAll(filepath.Join(path, "lost+found"), 0o700) },
		"an empty file":     func() error { return os.WriteFile(path, nil, 0o600) },
		"an alien file":     func() error { return os.WriteFile(path, []byte("notes\n"), 0o600) },
		"a pipe":            func() error { return unix.Mkfifo(path, 0o600) },
		"a link to nowhere": func() error { return os.Symlink("nowhere", path) },
		"a file in place of the folder": func() error {
			return errors.Join(os.RemoveAll(folder), os.WriteFile(folder, nil, 0o600))
		},
	} {
		t.Run(is, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(withinAMinute(t), 20*time.Second)
			defer cancel()
			require.NoError(t, n.Kill(ctx))
			require.NoError(t, os.RemoveAll(folder))
			require.NoError(t, os.MkdirAll(folder, 0o700))
			require.NoError(t, put())
			errBoot := n.Boot(ctx)
			promise(t, "L22", "the runtime starts with "+is+", and runs pods", keptOnStock, func(t require.TestingT) {
				require.NoError(t, errBoot)
				p := plugin.New("10", "watches")
				require.NoError(t, p.Connect(ctx, n.NRISocket()))
				defer p.Crash()
				requirePodRunsAgain(t, n, n.CRI().Pod("new"))
			})
		})
	}
}
