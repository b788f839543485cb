// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A caller whose deadline has passed makes its own error. The runtime's error is in its log, with
// the code of the first thing that it noticed: the deadline, or the end of the call.
func TestL17_LogNamesWhatACanceledCallWaitedFor(t *testing.T) {
	t.Parallel()
	for _, caller := range canceledCallers {
		t.Run(caller.does, func(t *testing.T) {
			n := StartNode(t, outlastsCallers)
			holds := plugin.New("10", "holds")
			Connect(t, n, holds)
			pod, err := caller.cancels(t, n, holds)
			// The runtime reads requests of one connection in their order: once this one is
			// answered, it knows that the previous call was canceled. If the hook were answered
			// sooner, the pod would be Ready, and nothing would be logged.
			_, versionErr := n.CRI().Runtime.Version(WithinAMinute(t), &runtime.VersionRequest{})
			require.NoError(t, versionErr)

			// Stock may take the caller's deadline for the plugin's timeout.
			Promise(t, "L16", "the error of a caller that "+caller.does+" has its code", SometimesOnStock("the pod runs"), func(t require.TestingT) {
				RequireReadable(t, err, caller.code)
			})
			logged := "rpc error: code = "
			if caller.code == codes.Canceled { // after a deadline it has either code
				logged += "Canceled"
			}
			pod.Gate.Release() // the plugin receives the end once it has answered (L4)
			Promise(t, "L17", "the log says what a caller that "+caller.does+" was waiting for", OnStock("it does not"), func(t require.TestingT) {
				RequireSoon(t, "the error in the log", func(context.Context) error {
					return HasLogged(n, "RunPodSandbox for", logged, "pod default/abandoned", "asking plugin 10-holds")
				})
			})
		})
	}
}
