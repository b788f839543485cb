// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"time"
)

// progress prints a line per step: what it is when it starts, how long it took
// when it ends.
type progress struct{ out io.Writer }

func (p progress) step(what string) (end func()) {
	start := time.Now()
	fmt.Fprintf(p.out, "%s ...", what)
	return func() { fmt.Fprintf(p.out, " %.1fs\n", time.Since(start).Seconds()) }
}
