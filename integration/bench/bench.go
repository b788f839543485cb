// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/integration/peers"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
)

// Options select the scenarios, and how often each measures.
type Options struct {
	Stock, Patched node.Options
	CRIO           *peers.CRIOOptions // of the CRI-O in the scenario "sandboxes"; none if nil
	Only           []string           // scenarios, by name; all when empty
	Counts         Counts

	// Engine runs the benchmarks of the engine and returns the output of go test.
	Engine func(context.Context) ([]byte, error)
	// Where receives the breakdowns of the scenario "where", besides its rows.
	Where func([]Breakdown)
	// Step is called just before each step starts, and the function that it returns when
	// the step has ended.
	Step func(what string) (end func())
}

// Counts say how often a scenario measures. All are positive.
type Counts struct {
	Runs     int // timed pods of each runtime and each kind
	Pods     int // pods for a rate
	Rounds   int // turns of each runtime in the other scenarios
	NodePods int // pods on the node on which plugins register and reconnect
}

// DefaultCounts take some minutes. Fewer than six measurements have no confidence interval.
var DefaultCounts = Counts{Runs: 60, Pods: 48, Rounds: 6, NodePods: 250}

// scenarios in the order of the table.
var scenarios = []struct {
	name    string
	measure func(*bench, context.Context) ([]Row, error)
}{
	{"life", (*bench).life},
	{"where", (*bench).where},
	{"shim", (*bench).shim},
	{"memory", (*bench).memory},
	{"resources", (*bench).resources},
	{"rate", (*bench).rate},
	{"sandboxes", (*bench).sandboxes},
	{"neighbour", (*bench).neighbour},
	{"hung", (*bench).hung},
	{"register", (*bench).register},
	{"flap", (*bench).flap},
	{"missed", (*bench).missed},
	{"stores", (*bench).stores},
	{"engine", (*bench).engine},
}

// scenarioNames lists the names of the scenarios.
func scenarioNames() []string {
	var names []string
	for _, s := range scenarios {
		names = append(names, s.name)
	}
	return names
}

// patience is how long one scenario may take. If it takes longer, it is stuck.
const patience = 20 * time.Minute

// bench is one run.
type bench struct {
	Options
	scenario string // the current one
}

// Run measures the scenarios one after the other. If one fails, it measures the others
// nevertheless, and returns both rows and an error.
func Run(ctx context.Context, options Options) (rows []Row, retErr error) {
	b := &bench{Options: options}
	if err := b.check(); err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "hookline")
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, os.RemoveAll(folder)) }()
	pause := filepath.Join(folder, "pause") // built once, for all nodes
	if err := image.BuildProgram(ctx, pause); err != nil {
		return nil, err
	}
	b.Stock.Pause, b.Patched.Pause = pause, pause

	var errs []error
	for _, s := range scenarios {
		if len(b.Only) > 0 && !slices.Contains(b.Only, s.name) {
			continue
		}
		b.scenario = s.name
		limited, cancel := context.WithTimeout(ctx, patience)
		measured, err := s.measure(b, limited)
		cancel()
		if ctx.Err() != nil {
			return rows, errors.Join(context.Cause(ctx), err)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("bench %s: %w", s.name, err))
			continue
		}
		rows = append(rows, measured...)
	}
	return rows, errors.Join(errs...)
}

func (b *bench) check() error {
	for _, name := range b.Only {
		if !slices.Contains(scenarioNames(), name) {
			return fmt.Errorf("no scenario %q: %s", name, strings.Join(scenarioNames(), ", "))
		}
	}
	if c := b.Counts; min(c.Runs, c.Pods, c.Rounds, c.NodePods) < 1 {
		return errors.New("counts of a benchmark must be positive")
	}
	return errors.Join(b.Stock.Check(), b.Patched.Check())
}

// step announces a step of the current scenario.
func (b *bench) step(format string, args ...any) (end func()) {
	return b.Step(b.scenario + ": " + fmt.Sprintf(format, args...))
}
