// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// runWait is a workload. It waits for SIGTERM, unless a flag makes it end by itself.
func runWait(args []string) error {
	flags := flag.NewFlagSet("wait", flag.ExitOnError)
	after := flags.Duration("exit-after", 0, "exit after this time, if it is set")
	now := flags.Bool("now", false, "exit at once")
	fill := flags.String("fill", "", "write 64 MiB to this file first")
	fail := flags.Bool("fail", false, "fail on SIGTERM")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *now {
		return nil
	}
	if *fill != "" {
		if err := os.WriteFile(*fill, make([]byte, 64<<20), 0o600); err != nil {
			return err
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	var end <-chan time.Time
	if *after > 0 {
		end = time.After(*after)
	}
	select {
	case <-signals:
		if *fail {
			return errors.New("SIGTERM")
		}
	case <-end:
	}
	return nil
}
