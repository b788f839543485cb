// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
)

// t runs a case or a part of one.
type t struct {
	case_  *run
	name   string
	part   string
	own    string // the suffix of the names of its plugins
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex // guards the fields below
	failed   bool
	asked    bool // whether it asked for a runtime
	cleanups []func()
}

// run is one run of a case, with its results.
type run struct {
	name    string // of the case, and which run of it
	runtime fixture.Runtime
	clean   func() // removes pods, after each part that asked for a runtime
	plugins *plugins

	mu       sync.Mutex // guards the fields below
	promises []report.Promise
	evidence []string
	notes    []string
	failed   bool
	fault    string // a fault of the tool
	watched  []fixture.Recorded
}

var _ fixture.T = (*t)(nil)

// lead runs f to its end, also if it ends by FailNow, and then its clean-ups. Panics are faults of
// the tool.
func lead(ctx context.Context, r *run, name, part string, f func(fixture.T)) *t {
	inner := &t{case_: r, name: name, part: part, own: newEnd()}
	inner.ctx, inner.cancel = context.WithCancel(ctx)
	in(r, func() { f(inner) })
	inner.cancel()
	for {
		inner.mu.Lock()
		n := len(inner.cleanups)
		if n == 0 {
			inner.mu.Unlock()
			return inner
		}
		clean := inner.cleanups[n-1]
		inner.cleanups = inner.cleanups[:n-1]
		inner.mu.Unlock()
		in(r, clean)
	}
}

// in runs f in a goroutine of its own, which FailNow ends.
func in(r *run, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.fault = fmt.Sprintf("the case panicked: %v", p)
				r.evidence = append(r.evidence, string(debug.Stack()))
			}
		}()
		f()
	}()
	<-done
}

func (t *t) Helper()                  {}
func (t *t) Name() string             { return t.name }
func (t *t) Context() context.Context { return t.ctx }

func (t *t) Cleanup(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleanups = append(t.cleanups, f)
}

func (t *t) Logf(format string, args ...any) {
	t.case_.mu.Lock()
	defer t.case_.mu.Unlock()
	t.case_.notes = append(t.case_.notes, fmt.Sprintf(format, args...))
}

func (t *t) Errorf(format string, args ...any) {
	t.mu.Lock()
	t.failed = true
	t.mu.Unlock()
	text := plain(fmt.Sprintf(format, args...))
	if t.part != "" {
		text = t.part + ": " + text
	}
	t.case_.mu.Lock()
	defer t.case_.mu.Unlock()
	t.case_.failed = true
	t.case_.evidence = append(t.case_.evidence, text)
}

func (t *t) FailNow() {
	t.mu.Lock()
	t.failed = true
	t.mu.Unlock()
	t.case_.mu.Lock()
	t.case_.failed = true
	t.case_.mu.Unlock()
	runtime.Goexit()
}

// Run runs a part of the case.
func (t *t) Run(name string, part func(fixture.T)) bool {
	inner := lead(t.ctx, t.case_, t.name+"/"+name, name, part)
	inner.mu.Lock()
	failed, asked := inner.failed, inner.asked
	inner.mu.Unlock()
	if asked {
		t.case_.clean()
	}
	if failed {
		t.mu.Lock()
		t.failed = true
		t.mu.Unlock()
	}
	return !failed
}

func (t *t) Runtime() fixture.Runtime {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asked = true
	return t.case_.runtime
}

// Own gives the name of a plugin the suffix of this part of the case.
func (t *t) Own(name string) string { return name + "-" + t.own }

// newEnd makes a suffix of names that no other part of a case has.
func newEnd() string {
	var end [4]byte
	_, _ = rand.Read(end[:]) // never fails
	return hex.EncodeToString(end[:])
}

// plugins maps the name of each plugin that was connected to its case. A runtime keeps missed
// events, and the hangs of a plugin, by the plugin's name, so that each must belong to one case.
type plugins struct {
	mu sync.Mutex // guards of
	of map[string]string
}

// claim assigns a plugin to a case. It returns the other case if the plugin has one.
func (p *plugins) claim(name, of string) (other string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, base, _ := strings.Cut(name, "-") // behind the index
	if first, taken := p.of[name]; taken && first != of && !fixture.InSettings(base) {
		return first
	}
	p.of[name] = of
	return ""
}

// has reports whether a plugin belongs to any case.
func (p *plugins) has(name string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, known := p.of[name]
	return known
}

// Watch records a plugin for the report.
func (t *t) Watch(p fixture.Recorded) {
	other := t.case_.plugins.claim(p.Name(), t.case_.name)
	t.case_.mu.Lock()
	defer t.case_.mu.Unlock()
	if other != "" {
		t.case_.fault = fmt.Sprintf("plugin %s also belongs to %s", p.Name(), other)
	}
	if !slices.Contains(t.case_.watched, p) {
		t.case_.watched = append(t.case_.watched, p)
	}
}

// Promise asserts something that holds by a rule.
func (t *t) Promise(rule, holds string, _ fixture.Breach, assertions func(require.TestingT)) {
	var seen fixture.Findings
	in(t.case_, func() { assertions(&seen) })
	p := report.Promise{Part: t.part, Rule: rule, Holds: holds, Verdict: report.Passed}
	if seen.Failed() {
		p.Verdict, p.Seen = report.Failed, plain(seen.String())
		t.mu.Lock()
		t.failed = true
		t.mu.Unlock()
	}
	t.case_.mu.Lock()
	defer t.case_.mu.Unlock()
	t.case_.failed = t.case_.failed || seen.Failed()
	t.case_.promises = append(t.case_.promises, p)
}

// Words are skipped: they hold for hookline only.
func (t *t) Words(string, string, fixture.Breach, func(require.TestingT)) {}

// plain is a message of testify without its frame and the places in the code.
func plain(text string) string {
	var kept []string
	trace := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "Error Trace:"):
			trace = true
		case strings.HasPrefix(line, "Error:"), strings.HasPrefix(line, "Messages:"):
			trace = false
			_, rest, _ := strings.Cut(line, ":")
			kept = append(kept, strings.TrimSpace(rest))
		case strings.HasPrefix(line, "Test:"), line == "", trace:
		default:
			kept = append(kept, line)
		}
	}
	const most = 1500
	all := strings.Join(kept, "\n")
	if here, err := os.Getwd(); err == nil { // paths of programs begin at the working directory
		all = strings.ReplaceAll(all, here+"/", "")
	}
	return all[:min(len(all), most)]
}
