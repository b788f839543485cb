// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
)

// tries is how often a case is run that fails while the machine is slow.
const tries = 3

// runUntilTold runs a case. One about time that fails says nothing of the runtime if the
// machine is too slow for it, by what a pod without plugins takes: it is run again, and is an
// error if the machine stays so slow.
func (a *attached) runUntilTold(ctx context.Context, c *cases.Case, one *report.Case) (broken error) {
	blank := *one
	for try := 1; ; try++ {
		if broken = a.runOne(ctx, c, one); broken != nil || one.Verdict != report.Failed || !c.Needs.Timed() {
			return broken
		}
		took, err := a.life(ctx)
		if err != nil || took < slow() {
			return nil
		}
		why := fmt.Sprintf("the machine was too slow to tell: a pod without plugins took %s", took.Round(time.Millisecond))
		if try == tries {
			one.Verdict, one.Reason = report.Error, why
			return nil
		}
		*one = blank
		one.Started, one.Again = time.Now(), append(blank.Again, why)
		blank.Again = one.Again
	}
}

// slow is how long a pod without plugins takes on a machine that is too slow for what a case
// bounds by moments, in which there are the lives of a few.
func slow() time.Duration { return fixture.Moments / 4 }

// life is how long a pod with a container takes to come and go now, without plugins.
func (a *attached) life(ctx context.Context) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	began := time.Now()
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
	return time.Since(began), err
}
