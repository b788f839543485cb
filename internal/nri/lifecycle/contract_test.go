// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// TestContract takes a world through random creations, failures, cancellations, joins, losses,
// hangs and restarts. It holds the world against L1 to L4, L9, L11, L13 to L17 and L20, all the
// way and in the end. In half of the plays the engine keeps missed events: these are held against
// L18, too. In half of them a connection succeeds the connected one of its name: these are held
// against L19, too.
func TestContract(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := setup{runtime: patched, keeps: rapid.Bool().Draw(rt, "keeps"), hands: rapid.Bool().Draw(rt, "hands")}
		if faults := play(t, s, drawMoves(rt, drawOrdinary, nil)); faults != "" {
			rt.Fatal(faults)
		}
	})
}

// A setup is what does not change in a play.
type setup struct {
	runtime runtimeKind
	keeps   bool // whether the engine keeps missed events
	hands   bool // whether it hands names over
	harsh   *harshness
}

// A move is one action of the kubelet, a plugin or an operator. Everything random in it is drawn
// before the play begins, so that a failed play can be repeated and made smaller.
type move func(w *world)

// A drawOp draws how an operation of the kubelet goes, and how long its caller waits: zero for as
// long as it takes.
type drawOp func(*rapid.T) (course, time.Duration)

// drawMoves draws the moves of a play. Moves of other replace those of the same name here; other
// receives the number of moves before.
func drawMoves(rt *rapid.T, op drawOp, other func(nth func() int) map[string]func(*rapid.T) move) []move {
	var moves []move
	// does makes an action of a function that draws a move.
	does := func(draw func(rt *rapid.T) move) func(*rapid.T) {
		return func(rt *rapid.T) {
			m, settled := draw(rt), rapid.Bool().Draw(rt, "settled")
			moves = append(moves, func(w *world) {
				m(w)
				if settled {
					// Later moves begin while this operation is still under way.
					synctest.Wait()
				}
			})
		}
	}
	actions := map[string]func(*rapid.T){
		"join": does(func(rt *rapid.T) move {
			temper := drawTemper(rt)
			own := fmt.Sprintf("plugin%d", len(moves))
			base := drawName(rt, own)
			name := fmt.Sprintf("%d0-%s", rapid.IntRange(0, 2).Draw(rt, "index"), base)
			return func(w *world) {
				p := temper.plugin(name)
				p.shared = base != own
				w.join(p)
			}
		}),
		"leave": does(func(rt *rapid.T) move {
			n := drawNumber(rt, "who")
			return func(w *world) {
				if p := pick(w.here(), n); p != nil {
					p.Close()
				}
			}
		}),
		"run pod": does(func(rt *rapid.T) move {
			id := fmt.Sprintf("p%d", len(moves))
			c, patience := op(rt)
			return func(w *world) {
				p := w.process
				p.op(patience, func(ctx context.Context) { p.runPod(ctx, id, c) })
			}
		}),
		"create container": does(func(rt *rapid.T) move {
			id, n := fmt.Sprintf("c%d", len(moves)), drawNumber(rt, "pod")
			c, patience := op(rt)
			return func(w *world) {
				p, pod := w.process, pick(w.podIDs(), n)
				p.op(patience, func(ctx context.Context) { p.createContainer(ctx, pod, id, c) })
			}
		}),
		"update pod":       does(op.onPod((*process).updatePod)),
		"stop pod":         does(op.onPod((*process).stopPod)),
		"remove pod":       does(op.onPod((*process).removePod)),
		"stop container":   does(op.onContainer((*process).stopContainer)),
		"remove container": does(op.onContainer((*process).removeContainer)),
		"interrupt": does(func(rt *rapid.T) move {
			n := drawNumber(rt, "whose")
			return func(w *world) {
				if cancel := pick(w.process.callers, n); cancel != nil {
					cancel()
				}
			}
		}),
		"come back": does(drawReturn),
		"restart":   does(drawRestart),
		"wait": does(func(rt *rapid.T) move {
			d := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 2 * requestTimeout}).Draw(rt, "time")
			return func(*world) { time.Sleep(d) }
		}),
	}
	if other != nil {
		for name, draw := range other(func() int { return len(moves) }) {
			actions[name] = does(draw)
		}
	}
	rt.Repeat(actions)
	return moves
}

// onPod draws a move that changes some pod.
func (op drawOp) onPod(f func(*process, context.Context, string, course)) func(rt *rapid.T) move {
	return op.onOneOf((*world).podIDs, f)
}

func (op drawOp) onContainer(f func(*process, context.Context, string, course)) func(rt *rapid.T) move {
	return op.onOneOf((*world).containerIDs, f)
}

func (op drawOp) onOneOf(ids func(*world) []string, f func(*process, context.Context, string, course)) func(rt *rapid.T) move {
	return func(rt *rapid.T) move {
		n := drawNumber(rt, "which")
		c, patience := op(rt)
		return func(w *world) {
			if id := pick(ids(w), n); id != "" {
				p := w.process
				p.op(patience, func(ctx context.Context) { f(p, ctx, id, c) })
			}
		}
	}
}

// pick returns one of some elements, or the zero value if there are none.
func pick[T any](some []T, n int) (one T) {
	if len(some) > 0 {
		one = some[n%len(some)]
	}
	return one
}

func (w *world) podIDs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.pods))
}

func (w *world) containerIDs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.containers))
}

// drawNumber draws a number to pick by: the elements to pick from are not known yet.
func drawNumber(rt *rapid.T, label string) int {
	return rapid.IntRange(0, 999).Draw(rt, label)
}

// drawOrdinary draws what operations are like in most plays.
func drawOrdinary(rt *rapid.T) (course, time.Duration) {
	times := []time.Duration{0, 0, time.Millisecond, 700 * time.Millisecond, 3 * time.Second}
	waits := []time.Duration{0, 0, 300 * time.Millisecond, 1100 * time.Millisecond, 10 * time.Second}
	requires := [][]string{nil, nil, nil, {"must"}, {"also"}, {"must", "also"}, {"10-must"}}
	return drawCourse(rt, times, requires), rapid.SampledFrom(waits).Draw(rt, "patience")
}

// drawCourse draws how an operation goes: each of its steps takes one of some times, and a pod or
// container requires one of some sets of plugins.
func drawCourse(rt *rapid.T, times []time.Duration, requires [][]string) course {
	takes := rapid.SampledFrom(times)
	return course{
		before:   takes.Draw(rt, "before"),
		after:    takes.Draw(rt, "after"),
		fails:    rapid.IntRange(0, 4).Draw(rt, "fails") == 4,
		idle:     rapid.IntRange(0, 2).Draw(rt, "idle") == 2,
		early:    rapid.Bool().Draw(rt, "early"),
		requires: rapid.SampledFrom(requires).Draw(rt, "requires"),
	}
}

// play makes the moves in a world of its own, in virtual time. It returns the rules that were
// broken, with what each plugin received, or nothing.
func play(t *testing.T, s setup, moves []move) (faults string) {
	synctest.Test(t, func(*testing.T) {
		w := newWorld(s)
		defer w.end()
		for _, m := range moves {
			m(w)
			if faults = w.story(w.broken()); faults != "" {
				return
			}
		}
		w.calmDown()
		w.settle()
		w.letVanish()
		if faults = w.story(w.atRest()); faults != "" {
			return
		}
		w.removeAll()
		w.settle()
		w.letVanish()
		w.join(temper{wants: "everything"}.plugin("99-last"))
		w.settle()
		w.allComeBack()
		faults = w.story(slices.Concat(w.atRest(), w.leftovers(), w.unheard(), w.lostAnswers()))
	})
	return faults
}

// story returns faults and the events that led to them.
func (w *world) story(faults []string) string {
	if len(faults) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(strings.Join(faults, "\n"))
	for _, p := range w.plugins {
		fmt.Fprintf(&b, "\n%s: %s", p.name, p.received())
		if p.isClosed() {
			b.WriteString(" (gone)")
		}
		if len(p.found) > 0 {
			fmt.Fprintf(&b, " (then the runtime found %s)", strings.Join(p.found, " "))
		}
	}
	return b.String()
}
