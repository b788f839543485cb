// SPDX-License-Identifier: Apache-2.0

package missed

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mount mounts a file system of its own over a folder.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: it mounts a file system")
	}
	flags := uintptr(0)
	if options == "ro" {
		flags, options = syscall.MS_RDONLY, ""
	}
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", flags, options))
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
}

func TestReadOnlyDisk(t *testing.T) {
	worksWithout(t, func(t *testing.T, path string) { mount(t, filepath.Dir(path), "ro") })
}

// A disk that is too full for a new file costs no durability: the old file is still written.
func TestDiskTooFullToTidy(t *testing.T) {
	k := newKept(t)
	k.Close()
	dir := filepath.Dir(k.path)
	mount(t, dir, "size=32m")
	k.open(Options{})
	k.Joined("10-a", wants)
	for i := range 1000 {
		k.miss("10-a", fmt.Sprint("StopPodSandbox p", i, strings.Repeat("-", 10000)))
	}
	k.Sync()
	for i := range 900 {
		k.Delivered("10-a", "StopPodSandbox", [2]string{fmt.Sprint("p", i, strings.Repeat("-", 10000))})
	}
	k.Sync()
	err := os.WriteFile(filepath.Join(dir, "ballast"), make([]byte, 32<<20), 0o600)
	require.ErrorIs(t, err, syscall.ENOSPC)
	k.strikes()
	require.Eventually(t, func() bool { return len(k.failures()) > 0 }, time.Minute, time.Millisecond)
	require.ErrorContains(t, k.failures()[0], "tidy")
	require.NoFileExists(t, k.path+".new")
	k.miss("10-a", "StopPodSandbox p9")
	k.Sync()
	data, err := os.ReadFile(k.path)
	require.NoError(t, err)
	require.Contains(t, string(data), "request of StopPodSandbox p9")
	require.Len(t, k.failures(), 1)
}

// A full disk keeps no caller waiting. When there is room again, everything is written.
func TestFullDisk(t *testing.T) {
	k := newKept(t)
	k.Close()
	mount(t, filepath.Dir(k.path), "size=256k")
	k.open(Options{})
	k.Joined("10-a", wants)
	for i := range 200 {
		k.miss("10-a", fmt.Sprint("StopPodSandbox p", i, strings.Repeat("-", 10000)))
		k.Sync()
	}
	require.NotEmpty(t, k.failures())
	k.works(t)
	dir := filepath.Dir(k.path)
	require.NoError(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	require.Eventually(t, func() bool {
		k.Store.mu.Lock()
		defer k.Store.mu.Unlock()
		return !k.file.whole
	}, time.Minute, 10*time.Millisecond)
	k.reopen(Options{})
	require.Equal(t, 201, k.names["10-a"].missed.Len())
}
