// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// progress prints a line per step: what it is when it starts, how long it took
// when it ends. On a terminal the time runs along.
type progress struct {
	out  io.Writer
	tick time.Duration // 0: not a terminal
}

func newProgress(out io.Writer) *progress {
	p := &progress{out: out}
	if f, ok := out.(*os.File); ok {
		if _, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS); err == nil {
			p.tick = time.Second
		}
	}
	return p
}

func (p *progress) step(what string) (end func()) {
	start := time.Now()
	fmt.Fprintf(p.out, "%s ...", what)
	var ticking sync.WaitGroup
	done := make(chan struct{})
	if p.tick > 0 {
		ticking.Go(func() {
			t := time.NewTicker(p.tick)
			defer t.Stop()
			for {
				select {
				case <-t.C:
					fmt.Fprintf(p.out, "\r%s ... %.0fs", what, time.Since(start).Seconds())
				case <-done:
					fmt.Fprintf(p.out, "\r%s ...", what)
					return
				}
			}
		})
	}
	return func() {
		close(done)
		ticking.Wait()
		fmt.Fprintf(p.out, " %.1fs\n", time.Since(start).Seconds())
	}
}
