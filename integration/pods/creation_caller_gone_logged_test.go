// SPDX-License-Identifier: Apache-2.0

package pods

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/suite"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A caller whose time is over makes up its own error. What the runtime had to
// say is in its log, with the code of what it saw first: the end of the time, or
// of the call.
func TestL17_LogSaysWhatACallerWhoIsGoneWaitedFor(t *testing.T) {
	t.Parallel()
	for _, caller := range []struct {
		does     string
		patience time.Duration // in which the pod gets to its hook
		code     codes.Code
		logged   string
		giveUp   func(ctx context.Context, cancel context.CancelFunc)
	}{
		{"runs out of time", 12 * time.Second, codes.DeadlineExceeded, "rpc error: code = ", func(ctx context.Context, _ context.CancelFunc) { <-ctx.Done() }},
		{"cancels", time.Minute, codes.Canceled, "rpc error: code = Canceled", func(_ context.Context, cancel context.CancelFunc) { cancel() }},
	} {
		t.Run(caller.does, func(t *testing.T) {
			n := StartNode(t, func(o *node.Options) { o.RequestTimeout = 20 * time.Second })
			holds, gate := plugin.New("10", "holds"), plugin.NewGate()
			defer gate.Release()
			holds.On(plugin.RunPodSandbox, gate.Hold)
			Connect(t, n, holds)

			ctx, cancel := context.WithTimeout(WithinAMinute(t), caller.patience)
			defer cancel()
			ran := make(chan error, 1)
			go func() {
				_, err := n.CRI().RunPod(ctx, n.CRI().Pod("abandoned"))
				ran <- err
			}()
			RequireClosed(t, gate.Entered(), "the hook")
			caller.giveUp(ctx, cancel)
			err := <-ran
			// Requests of one connection are read in their order: who is answered now
			// has a runtime that knows of the end of the call before. The hook must not
			// be answered sooner, or the pod is Ready and nothing is left to log.
			_, versionErr := n.CRI().Runtime.Version(WithinAMinute(t), &runtime.VersionRequest{})
			require.NoError(t, versionErr)

			// Stock may take the end of the caller's time for that of the plugin's.
			Promise(t, "L16", "the error of a caller who "+caller.does+" has its code", SometimesOnStock("the pod runs"), func(t require.TestingT) {
				RequireReadable(t, err, caller.code)
			})
			gate.Release() // what it was asked for is undone when it has answered (L4)
			Promise(t, "L17", "the log says what a caller who "+caller.does+" was waiting for", OnStock("it does not"), func(t require.TestingT) {
				RequireSoon(t, "the error in the log", func(context.Context) error {
					return HasLogged(n, "RunPodSandbox for", caller.logged, "pod default/abandoned", "asking plugin 10-holds")
				})
			})
		})
	}
}
