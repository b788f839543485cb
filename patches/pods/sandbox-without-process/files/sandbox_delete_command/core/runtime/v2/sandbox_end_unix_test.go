// SPDX-License-Identifier: Apache-2.0

//go:build !windows

package v2

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeleteCommandOfASandboxIsForLostShims(t *testing.T) {
	for name, test := range map[string]struct {
		program    string
		ended, run bool
	}{
		"ended":           {program: "containerd-shim-sandboxed-runc-v2", ended: true},
		"lost":            {program: "containerd-shim-sandboxed-runc-v2", run: true},
		"another runtime": {program: "containerd-shim-other-v1", ended: true, run: true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEndedShim(t, "")
			own, _ := e.sockets(t, t.TempDir())
			e.boot(t, "unix://"+own)
			renamed := filepath.Join(t.TempDir(), test.program)
			require.NoError(t, os.Rename(e.binary.runtime, renamed))
			e.binary.runtime = renamed
			require.NoError(t, e.shims.Add(e.ctx, &shim{bundle: e.bundle, address: "ttrpc+unix://" + own}))
			m := &ShimManager{shims: e.shims}

			m.NoteEnd(e.ctx, "task", true)
			m.NoteEnd(e.ctx, "task", test.ended)
			m.NoteEnd(e.ctx, "another", !test.ended)
			assert.Equal(t, test.ended, e.bundle.deleted.Load())
			if test.run {
				e.cleanUp()
				assert.FileExists(t, e.mark)
				return
			}
			e.ends(t)
			e.cleanUp()
			assert.NoFileExists(t, e.mark)
		})
	}
}
