// SPDX-License-Identifier: Apache-2.0

//go:build linux

package sandbox

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onThread calls do on a thread of its own, which may change its namespaces: it ends with do. It
// is not the main thread. That one does not end, and its namespaces are those that others see of
// the process.
func onThread(do func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() {
			done <- onThread(do) // this thread is taken meanwhile
			runtime.UnlockOSThread()
			return
		}
		done <- do()
	}()
	return <-done
}
