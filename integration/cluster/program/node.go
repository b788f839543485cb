// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// runAgent waits for SIGTERM, and reaps processes of others.
func runAgent([]string) error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	<-signals
	return nil
}

// runNode becomes a command on the node. It changes to the root of the node's first process, and
// executes the node's own nsenter.
func runNode(args []string) error {
	if len(args) == 0 {
		return errors.New("no command given")
	}
	if err := goToNode(); err != nil {
		return err
	}
	enter := append([]string{"nsenter", "--target", "1", "--mount", "--uts", "--ipc", "--net", "--"}, args...)
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}
	return syscall.Exec("/usr/bin/nsenter", enter, env)
}

// goToNode changes to the root of the node's first process.
func goToNode() error {
	if err := syscall.Chroot("/proc/1/root"); err != nil {
		return fmt.Errorf("go to the node's root: %w", err)
	}
	return os.Chdir("/")
}
