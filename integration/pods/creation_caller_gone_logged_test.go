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

// A caller whose time is over makes up its own error. What the runtime had to
// say is in its log, with the code of what it saw first: the end of the time, or
// of the call.
func TestL17_LogNamesWhatACanceledCallWaitedFor(t *testing.T) {
	t.Parallel()
	for _, caller := range canceledCallers {
		t.Run(caller.does, func(t *testing.T) {
			n := StartNode(t, outlastsCallers)
			holds := plugin.New("10", "holds")
			Connect(t, n, holds)
			pod, err := caller.cancels(t, n, holds)
			// Requests of one connection are read in their order: who is answered now
			// has a runtime that knows of the end of the call before. The hook must not
			// be answered sooner, or the pod is Ready and nothing is left to log.
			_, versionErr := n.CRI().Runtime.Version(WithinAMinute(t), &runtime.VersionRequest{})
			require.NoError(t, versionErr)

			// Stock may take the end of the caller's time for that of the plugin's.
			Promise(t, "L16", "the error of a caller who "+caller.does+" has its code", SometimesOnStock("the pod runs"), func(t require.TestingT) {
				RequireReadable(t, err, caller.code)
			})
			logged := "rpc error: code = "
			if caller.code == codes.Canceled { // of one whose time is up it has either code
				logged += "Canceled"
			}
			pod.Gate.Release() // what it was asked for is undone when it has answered (L4)
			Promise(t, "L17", "the log says what a caller who "+caller.does+" was waiting for", OnStock("it does not"), func(t require.TestingT) {
				RequireSoon(t, "the error in the log", func(context.Context) error {
					return HasLogged(n, "RunPodSandbox for", logged, "pod default/abandoned", "asking plugin 10-holds")
				})
			})
		})
	}
}
