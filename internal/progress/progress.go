// SPDX-License-Identifier: Apache-2.0

// Package progress shows the steps of a command.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A Printer prints a line per step: its name when it starts, and how long it took when it ends.
// A step that runs beside others may have two lines.
type Printer struct {
	out io.Writer

	mu   sync.Mutex // guards open, and the order of lines
	open string     // the step whose line has no end yet
}

// New returns a printer to out.
func New(out io.Writer) *Printer { return &Printer{out: out} }

// Step prints that a step starts. Call end when it has ended.
func (p *Printer) Step(what string) (end func()) {
	start := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.begin(what)
	return func() {
		took := time.Since(start)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open != what {
			p.begin(what)
		}
		fmt.Fprintf(p.out, " %.1fs\n", took.Seconds())
		p.open = ""
	}
}

// begin starts a line. p.mu is held.
func (p *Printer) begin(what string) {
	if p.open != "" {
		fmt.Fprintln(p.out)
	}
	fmt.Fprintf(p.out, "%s ...", what)
	p.open = what
}
