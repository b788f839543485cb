// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/containerd/errdefs"
	"github.com/containerd/errdefs/pkg/errgrpc"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	nri "github.com/containerd/nri/pkg/adaptation"
)

type failedPod struct{ PodSandbox }

func (failedPod) GetNamespace() string { return "default" }
func (failedPod) GetName() string      { return "web" }

type failedContainer struct{ Container }

func (failedContainer) GetName() string { return "main" }

// The plugin, the reason and the code of a failure reach the kubelet, also through the error
// that CRI wraps around them.
func TestFailures(t *testing.T) {
	by := func(err error) error {
		return &nri.PluginError{Plugin: "10-judge", Event: "RunPodSandbox", Err: err}
	}
	for _, tc := range []struct {
		name  string
		err   error
		class error
		code  codes.Code
		text  string
	}{
		{"rejected", by(status.Error(codes.Unknown, "no room")), errdefs.ErrFailedPrecondition, codes.FailedPrecondition,
			"pod default/web: plugin 10-judge rejected RunPodSandbox: no room"},
		{"rejected in process", by(errors.New("no room")), errdefs.ErrFailedPrecondition, codes.FailedPrecondition,
			"pod default/web: plugin 10-judge rejected RunPodSandbox: no room"},
		{"rejected with a code", by(status.Error(codes.ResourceExhausted, "no addresses")), errdefs.ErrResourceExhausted, codes.ResourceExhausted,
			"pod default/web: plugin 10-judge rejected RunPodSandbox: no addresses"},
		{"timed out", by(fmt.Errorf("no answer within 2s: %w", context.DeadlineExceeded)), context.DeadlineExceeded, codes.DeadlineExceeded,
			"pod default/web: plugin 10-judge failed to handle RunPodSandbox request: no answer within 2s: context deadline exceeded"},
		{"caller gone", fmt.Errorf("waiting for plugin 10-judge: %w", context.Canceled), context.Canceled, codes.Canceled,
			"pod default/web: waiting for plugin 10-judge: context canceled"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := podFailure(failedPod{}, tc.err)
			require.EqualError(t, err, tc.text)
			require.ErrorIs(t, err, tc.class)

			s, ok := status.FromError(errgrpc.ToGRPC(fmt.Errorf("NRI RunPodSandbox failed: %w", err)))
			require.True(t, ok)
			require.Equal(t, tc.code, s.Code())
			require.Equal(t, "NRI RunPodSandbox failed: "+tc.text, s.Message())
		})
	}
	require.NoError(t, podFailure(failedPod{}, nil))
	require.NoError(t, containerFailure(failedPod{}, failedContainer{}, nil))
	require.EqualError(t, containerFailure(failedPod{}, failedContainer{}, by(errors.New("no"))),
		"container main of pod default/web: plugin 10-judge rejected RunPodSandbox: no")
}
