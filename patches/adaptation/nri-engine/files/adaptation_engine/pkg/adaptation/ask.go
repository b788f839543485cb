// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// ask sends the plugins a request that each of them may reject. A plugin's own error
// fails the request as it is. The error names a plugin that did not answer.
func (r *Adaptation) ask(ctx context.Context, ev lifecycle.Event, each func(lifecycle.Connection, any) error) error {
	err := r.engine.Ask(ctx, ev, each)
	var failed *lifecycle.Error
	switch {
	case !errors.As(err, &failed):
		return err
	case failed.Failure == lifecycle.Rejection:
		return failed.Err
	}
	return fmt.Errorf("plugin %s failed to handle %s request: %w", failed.Conn.Name(), ev.Kind, lossOf(failed))
}
