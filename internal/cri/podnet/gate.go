// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
)

// rejection is how long a pod waits for the answer before it is rejected.
const rejection = 2 * time.Second

// TakesPods returns nil if a pod can be attached, and otherwise the error to reject it with, of
// class errdefs.ErrUnavailable (N2). If the last answer is an error or of another configuration,
// STATUS is run once more.
func (n *Network) TakesPods(ctx context.Context) error {
	if s := n.Answer(ctx); s.Ready() && !n.status.Outdated() {
		return nil
	}
	s := n.status.Fresh(ctx, rejection)
	if n.status.Outdated() { // the last answer is of another configuration
		return fmt.Errorf("the new network configuration has not answered STATUS yet: %w", errdefs.ErrUnavailable)
	}
	return classed(s.Err())
}

// classed makes an error of netstatus match errdefs.ErrUnavailable in errors.Is. netstatus does
// not import errdefs.
func classed(err error) error {
	if err == nil {
		return nil
	}
	return unavailable{err}
}

type unavailable struct{ error }

func (u unavailable) Unwrap() error { return u.error }

func (unavailable) Is(target error) bool { return target == errdefs.ErrUnavailable }
