// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"context"
	"time"
)

// work is Take or Free of a pod.
type work func(context.Context) error

// longestTry is how long one try may take, and the longest pause between two.
const longestTry = time.Minute

// untilDone does the work until it succeeds or ctx ends. It sends the result of the first try, and notes
// what fails.
func (w work) untilDone(ctx context.Context, first chan<- error, note func(error, time.Duration)) {
	err := w.try(ctx)
	first <- err
	for pauses := newPauses(longestTry); err != nil && ctx.Err() == nil; err = w.try(ctx) {
		pause := pauses.NextBackOff()
		note(err, pause)
		sleep(ctx, pause)
	}
}

func (w work) try(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longestTry)
	defer cancel()
	return w(ctx)
}
