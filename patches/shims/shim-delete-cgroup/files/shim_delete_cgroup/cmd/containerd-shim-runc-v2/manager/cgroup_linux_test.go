// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/containerd/containerd/v2/pkg/testutil"
)

func TestCgroupPath(t *testing.T) {
	for name, test := range map[string]struct{ spec, path string }{
		"of a pod":       {`{"linux": {"cgroupsPath": "/kubepods/pod/id"}}`, "/kubepods/pod/id"},
		"for systemd":    {`{"linux": {"cgroupsPath": "kubepods.slice:cri-containerd:id"}}`, ""},
		"none":           {`{}`, ""},
		"all of them":    {`{"linux": {"cgroupsPath": "/"}}`, ""},
		"above all":      {`{"linux": {"cgroupsPath": "/../.."}}`, ""},
		"of the runtime": {`{"linux": {"cgroupsPath": "id"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bundle := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(bundle, "config.json"), []byte(test.spec), 0o600))
			path, err := cgroupPath(bundle)
			require.NoError(t, err)
			assert.Equal(t, test.path, path)
		})
	}
	path, err := cgroupPath(t.TempDir())
	require.NoError(t, err, "a bundle without a spec")
	assert.Empty(t, path)
	broken := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, "config.json"), []byte("{"), 0o600))
	require.Error(t, removeCgroup(t.Context(), broken))
}

// An empty cgroup is removed at once, and a cgroup with a process when the process has ended.
func TestCgroupIsRemovedWhenItIsEmpty(t *testing.T) {
	testutil.RequiresRoot(t)
	path := fmt.Sprintf("/shim-delete-%d", os.Getpid())
	bundle := t.TempDir()
	spec := fmt.Sprintf(`{"linux": {"cgroupsPath": %q}}`, path)
	require.NoError(t, os.WriteFile(filepath.Join(bundle, "config.json"), []byte(spec), 0o600))
	mounts, err := mountinfo.GetMounts(mountinfo.FSTypeFilter("cgroup", "cgroup2"))
	require.NoError(t, err)
	var made []string
	for _, m := range mounts {
		cgroup := filepath.Join(m.Mountpoint, path)
		if os.Mkdir(cgroup, 0o755) == nil { // it fails where the hierarchy is read-only
			made = append(made, cgroup)
			t.Cleanup(func() { _ = unix.Rmdir(cgroup) })
		}
	}
	require.NotEmpty(t, made)
	last := made[len(made)-1]
	process := exec.Command("sleep", "60")
	require.NoError(t, process.Start())
	require.NoError(t, os.WriteFile(filepath.Join(last, "cgroup.procs"), fmt.Appendf(nil, "%d", process.Process.Pid), 0o600))

	ended := make(chan error, 1)
	go func() { ended <- removeCgroup(context.Background(), bundle) }()
	for _, cgroup := range made[:len(made)-1] {
		require.Eventually(t, func() bool { return os.IsNotExist(stat(cgroup)) }, time.Minute, time.Millisecond, cgroup)
	}
	require.NoError(t, stat(last), "a process is in it")
	require.NoError(t, process.Process.Kill())
	_ = process.Wait()
	require.NoError(t, <-ended)
	assert.True(t, os.IsNotExist(stat(last)))
}

func stat(path string) error {
	_, err := os.Stat(path)
	return err
}
