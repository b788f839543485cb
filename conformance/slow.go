// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
)

// tries is how often a case runs that fails while the machine is slow.
const tries = 3

// runUntilSignificant runs a case, again if its failure is not significant. A case that depends
// on time may fail because the machine is too slow, measured by a pod without plugins: then it
// runs again, and is an error if the machine stays slow. Or the machine may have stalled once:
// then only a second failure counts.
func (a *attached) runUntilSignificant(ctx context.Context, c *cases.Case, one *report.Case) (broken error) {
	blank, stalled := *one, false
	for try := 1; ; try++ {
		if broken = a.runOne(ctx, c, one); broken != nil || one.Verdict != report.Failed || !c.Needs.Timed() {
			return broken
		}
		why := a.tooSlow(ctx)
		if why != "" && try >= tries {
			one.Verdict, one.Reason = report.Error, why
			return nil
		}
		if why == "" && !stalled {
			why = a.stall(one)
			stalled = why != ""
		}
		if why == "" {
			return nil
		}
		*one = blank
		one.Started, one.Again = time.Now(), append(blank.Again, why)
		blank.Again = one.Again
	}
}

// tooSlow returns a reason if the machine is too slow now.
func (a *attached) tooSlow(ctx context.Context) string {
	took, err := a.life(ctx)
	if err != nil || took < slow() {
		return ""
	}
	return fmt.Sprintf("the machine was too slow for a verdict: a pod without plugins took %s", took.Round(time.Millisecond))
}

// stall names the call that a stall of the machine may have delayed, and the failures of the case:
// if it passes the next time, they are nowhere else in the report.
func (a *attached) stall(one *report.Case) string {
	took := a.slowest.End.Sub(a.slowest.Start)
	if took < stalls() || a.lost { // a runtime may crash only once, too
		return ""
	}
	broken := one.Broken()
	for i := range broken {
		broken[i] = brief(broken[i])
	}
	return fmt.Sprintf("the machine may have stalled: %s took %s, and the case failed: %s", a.slowest.Name, took.Round(time.Millisecond), strings.Join(broken, "; "))
}

// brief is the beginning of a finding, without its details.
func brief(seen string) string {
	line, rest, _ := strings.Cut(seen, "\n")
	if strings.HasSuffix(line, ":") { // the finding follows
		next, _, _ := strings.Cut(rest, "\n")
		line = strings.TrimSpace(line + " " + strings.TrimSpace(next))
	}
	return report.Cut(line, 120)
}

// slow is how long a pod without plugins takes on a machine that is too slow for bounds of
// fixture.Moments. Within these a few pods start and end.
func slow() time.Duration { return fixture.Moments / 4 }

// stalls is how long a call takes that the machine, the runtime or a plugin delays.
func stalls() time.Duration { return fixture.Moments / 2 }

// life measures the life of a pod with a container now, without plugins.
func (a *attached) life(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	began := a.calls.now()
	pod := a.cri.Pod("conformance-pace")
	id, err := a.cri.RunPod(ctx, pod)
	if err != nil {
		return 0, err
	}
	container, err := a.cri.Create(ctx, id, pod, a.cri.Container("main"))
	if err == nil {
		err = a.cri.Start(ctx, container)
	}
	err = errors.Join(err, a.cri.StopPod(ctx, id), a.cri.RemovePod(ctx, id))
	return a.calls.now().Sub(began), err
}
