// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
)

// refusal is how long a pod waits for the answer that may refuse it.
const refusal = 2 * time.Second

// TakesPods returns nil if a pod can be attached, and else the error to refuse
// it with, of class errdefs.ErrUnavailable (N2). Where the answer that is kept
// says no or is of another configuration, STATUS is asked once more.
func (n *Network) TakesPods(ctx context.Context) error {
	if s := n.Answer(ctx); s.Ready() && !n.status.Outdated() {
		return nil
	}
	s := n.status.Fresh(ctx, refusal)
	if n.status.Outdated() { // what is kept is the word of another network
		return fmt.Errorf("the network that was configured last has not answered STATUS yet: %w", errdefs.ErrUnavailable)
	}
	return s.Err()
}
