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

// tries is how often a case is run that fails while the machine is slow.
const tries = 3

// runUntilSignificant runs a case. One about time that fails says nothing of the runtime if the
// machine is too slow for it, by what a pod without plugins takes: it is run again, and is an
// error if the machine stays so slow. It says little if the machine may have stalled for once:
// then it has to fail twice.
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

// tooSlow says so if the machine is too slow now.
func (a *attached) tooSlow(ctx context.Context) string {
	took, err := a.life(ctx)
	if err != nil || took < slow() {
		return ""
	}
	return fmt.Sprintf("the machine was too slow to tell: a pod without plugins took %s", took.Round(time.Millisecond))
}

// stall says which call of the case may have been held by the machine, and what did not hold:
// the report has that nowhere else if it holds the next time.
func (a *attached) stall(one *report.Case) string {
	took := a.slowest.End.Sub(a.slowest.Start)
	if took < stalls() || a.lost { // one that crashes may do so for once
		return ""
	}
	broken := one.Broken()
	for i := range broken {
		broken[i] = brief(broken[i])
	}
	return fmt.Sprintf("the machine may have stalled: %s took %s, and this did not hold: %s", a.slowest.Name, took.Round(time.Millisecond), strings.Join(broken, "; "))
}

// brief is the beginning of what was seen: the rest are details.
func brief(seen string) string {
	line, rest, _ := strings.Cut(seen, "\n")
	if strings.HasSuffix(line, ":") { // what was seen follows
		next, _, _ := strings.Cut(rest, "\n")
		line = strings.TrimSpace(line + " " + strings.TrimSpace(next))
	}
	return report.Cut(line, 120)
}

// slow is how long a pod without plugins takes on a machine that is too slow for what a case
// bounds by moments, in which there are the lives of a few.
func slow() time.Duration { return fixture.Moments / 4 }

// stalls is how long a call takes that something holds up, be it the machine, the runtime or
// a plugin.
func stalls() time.Duration { return fixture.Moments / 2 }

// life is how long a pod with a container takes to come and go now, without plugins.
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
