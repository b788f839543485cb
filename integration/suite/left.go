// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"time"

	"github.com/hookline-nri/hookline/testkit/node"
)

// LeaveANode is the variable that makes this program leave a node behind. It holds
// the path of the program for the image.
const LeaveANode = "HOOKLINE_LEAVE_A_NODE"

// leaveANode runs a node with a pod, tells of it, and waits to be killed.
func leaveANode() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	n, err := node.Start(ctx, Binaries())
	if err != nil {
		return err
	}
	if _, err := n.CRI().RunPod(ctx, n.CRI().Pod("left")); err != nil {
		return err
	}
	fmt.Println(LeaveANode, n.Folder())
	<-ctx.Done()
	return ctx.Err()
}
