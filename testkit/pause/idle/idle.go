// SPDX-License-Identifier: Apache-2.0

// Package idle is the only program in the pods of the tests. It imports next to nothing,
// so that the program is small.
package idle

import (
	"flag"
	"os"
	"os/signal"
	"syscall"
)

// Ready is ignored by a program once it handles its signals. Catching signals would show nothing: the
// Go runtime catches all of them before main, and so does runc's process, also a Go program, before
// it becomes the program.
const Ready = syscall.SIGUSR1

// Main waits for SIGTERM or SIGINT and exits with the given code. As the first process of
// a pid namespace it also reaps the processes that it inherits.
func Main() {
	code := flag.Int("code", 0, "exit with this code")
	now := flag.Bool("now", false, "exit at once")
	stubborn := flag.Bool("stubborn", false, "ignore SIGTERM, so that a stop takes the whole grace period")
	flag.Parse()
	if *now {
		os.Exit(*code)
	}
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	signal.Ignore(Ready)
	for s := range signals {
		switch {
		case s == syscall.SIGCHLD:
			reap()
		case s == syscall.SIGTERM && *stubborn:
			signal.Ignore(syscall.SIGTERM) // now visible from outside: a SIGTERM has come
		default:
			os.Exit(*code)
		}
	}
}

// reap collects every child that has exited.
func reap() {
	for {
		if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 && err != syscall.EINTR {
			return
		}
	}
}
