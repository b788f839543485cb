// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/containerd/nri/pkg/log"
)

// A peer causes lines in the log each time it connects. These bound the lines about connections
// younger than arrivalPeriod: how many in one period, and how long each is (L22).
const (
	arrivalLines  = 50
	arrivalPeriod = 10 * time.Second
	arrivalLine   = 1 << 10
)

// lineBudget counts lines that are logged.
type lineBudget struct {
	mu      sync.Mutex // guards what follows
	since   time.Time
	lines   int // since then
	leftOut int // since the last line that was logged
}

// take reports whether one more line is logged, and how many were left out before it.
func (b *lineBudget) take(now time.Time) (leftOut int, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if now.Sub(b.since) >= arrivalPeriod {
		b.since, b.lines = now, 0
	}
	if b.lines == arrivalLines {
		b.leftOut++
		return 0, false
	}
	b.lines++
	leftOut, b.leftOut = b.leftOut, 0
	return leftOut, true
}

// logArrival logs a line about a new connection, unless there were too many.
func (r *Adaptation) logArrival(logf func(context.Context, string, ...any), format string, args ...any) {
	leftOut, ok := r.arrivalLog.take(time.Now())
	if !ok {
		return
	}
	line := fmt.Sprintf(format, args...)
	if len(line) > arrivalLine {
		line = line[:arrivalLine] + "..."
	}
	if leftOut > 0 {
		line += fmt.Sprintf(" (%d lines about plugins that connected were left out before)", leftOut)
	}
	logf(noCtx, "%s", line)
}

// isNew reports whether the plugin has just connected. Plugins that the runtime itself has
// launched or loaded are never new.
func (p *plugin) isNew() bool { return time.Since(p.arrived) < arrivalPeriod }

// logf logs a line about a plugin.
func (p *plugin) logf(ctx context.Context, format string, args ...any) {
	if p.isNew() {
		p.r.logArrival(log.Infof, format, args...)
		return
	}
	log.Infof(ctx, format, args...)
}

// logEndf logs that the connection of a plugin was closed. If it is new, the line that says
// why it has left or failed to join is enough.
func (p *plugin) logEndf(ctx context.Context, format string, args ...any) {
	if !p.isNew() {
		log.Infof(ctx, format, args...)
	}
}

// logPlace logs that a plugin has joined, and its place in the order of all.
func (r *Adaptation) logPlace(p *plugin) {
	all := r.connected()
	p.logf(noCtx, "plugin %q connected and synchronized, #%d of %d", p.name(), slices.Index(all, p)+1, len(all))
}
