// SPDX-License-Identifier: Apache-2.0

package owed

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

// A full disk keeps nobody waiting. When there is room again all is written.
func TestFullDisk(t *testing.T) {
	k := newKept(t)
	k.Close()
	mount(t, filepath.Dir(k.path), "size=256k")
	k.open(Options{})
	k.Joined("10-a", wants)
	for i := range 200 {
		k.owe("10-a", fmt.Sprint("StopPodSandbox p", i, strings.Repeat("-", 10000)))
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
	require.Len(t, k.names["10-a"].owed, 201)
}
