// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// lists synchronizes plugins with a runtime that has no pods.
func lists(ctx context.Context, cb nri.SyncCB) error {
	_, err := cb(ctx, nil, nil)
	return err
}

// joined connects a plugin that answers events of pods with run. Its policy fails the
// requests that it does not answer.
func joined(t *testing.T, dir string, run func(*mockPlugin) error) *mockPlugin {
	t.Helper()
	return joinedAs(t, dir, "10", run)
}

// joinedAs does the same for a plugin with this index.
func joinedAs(t *testing.T, dir, idx string, run func(*mockPlugin) error) *mockPlugin {
	t.Helper()
	p := &mockPlugin{idx: idx, name: "judge", options: []stub.Option{stub.WithFailurePolicy(&api.FailurePolicy{FailRequest: true})}}
	p.runPodSandbox = func(p *mockPlugin, _ *api.PodSandbox, _ *api.Container) error { return run(p) }
	started(t, dir, p)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
	return p
}

// patient sets a request timeout that no test reaches.
func patient(t *testing.T) {
	t.Helper()
	nri.SetPluginRequestTimeout(soon)
	t.Cleanup(func() { nri.SetPluginRequestTimeout(nri.DefaultPluginRequestTimeout) })
}

// An error has the plugin that failed the pod, the event, the reason and a code.
func TestPluginErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		run    func(*mockPlugin, <-chan struct{}) error
		code   codes.Code
		text   string
		within time.Duration
	}{
		"a rejection": {
			run:  func(*mockPlugin, <-chan struct{}) error { return errors.New("no room") },
			code: codes.FailedPrecondition,
			text: "plugin 10-judge rejected RunPodSandbox: no room",
		},
		"a rejection with a code": {
			run: func(*mockPlugin, <-chan struct{}) error {
				return status.Error(codes.ResourceExhausted, "out of addresses")
			},
			code: codes.ResourceExhausted,
			text: "plugin 10-judge rejected RunPodSandbox: out of addresses",
		},
		"no answer": {
			run:    func(_ *mockPlugin, over <-chan struct{}) error { <-over; return nil },
			code:   codes.DeadlineExceeded,
			text:   "plugin 10-judge failed to handle RunPodSandbox request: no answer within 100ms: context deadline exceeded",
			within: 100 * time.Millisecond,
		},
		"a crash": {
			run:  func(p *mockPlugin, _ <-chan struct{}) error { p.stub.Stop(); return nil },
			code: codes.Unavailable,
			text: "plugin 10-judge failed to handle RunPodSandbox request",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, over := t.TempDir(), make(chan struct{})
			r := runtimeWith(t, dir, lists)
			joined(t, dir, func(p *mockPlugin) error { return tc.run(p, over) })
			t.Cleanup(func() { close(over) })
			if tc.within > 0 {
				nri.SetPluginRequestTimeout(tc.within)
				t.Cleanup(func() { nri.SetPluginRequestTimeout(nri.DefaultPluginRequestTimeout) })
			}

			err := r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod0"}})

			require.ErrorContains(t, err, tc.text)
			require.NotContains(t, err.Error(), "rpc error")
			require.Equal(t, tc.code, status.Code(err))
			var failed *nri.PluginError
			require.ErrorAs(t, err, &failed)
			require.Equal(t, "10-judge", failed.Plugin)
			require.Equal(t, "RunPodSandbox", failed.Event)
		})
	}
}

// After the caller cancels, the error names the plugin that it was waiting for, and
// has the code of the cancellation.
func TestErrorOfACallerThatCanceled(t *testing.T) {
	patient(t)
	dir, asked, over := t.TempDir(), make(chan struct{}), make(chan struct{})
	r := runtimeWith(t, dir, lists)
	joined(t, dir, func(*mockPlugin) error { close(asked); <-over; return errors.New("too late") })
	t.Cleanup(func() { close(over) })

	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-asked; cancel() }()
	err := r.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod0"}})

	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "10-judge")
	require.Equal(t, codes.Canceled, status.Code(err))
}

// slowThen starts an adaptation with a plugin that takes some time for a pod, and with one behind it.
// over is closed when the test ends.
func slowThen(t *testing.T, takes time.Duration, behind func(over chan struct{}) error) *nri.Adaptation {
	t.Helper()
	dir, over := t.TempDir(), make(chan struct{})
	r := runtimeWith(t, dir, lists)
	joinedAs(t, dir, "10", func(*mockPlugin) error {
		select {
		case <-time.After(takes):
		case <-over:
		}
		return nil
	})
	joinedAs(t, dir, "20", func(*mockPlugin) error { return behind(over) })
	t.Cleanup(func() { close(over) })
	return r
}

// The plugin that used the caller's time is named with the one that has too little of it.
func TestErrorNamesThePluginsThatTookTheTime(t *testing.T) {
	patient(t)
	r := slowThen(t, 300*time.Millisecond, func(over chan struct{}) error { <-over; return nil })

	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	err := r.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod0"}})

	require.Regexp(t, `^of \S+ for plugins, .*10-judge took \S+: RunPodSandbox of pod pod0: asking plugin 20-judge: context deadline exceeded$`, err.Error())
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

// A plugin that rejects because another one left it too little time is still the one that
// rejected, with its code.
func TestErrorOfAStarvedPluginHasItsCode(t *testing.T) {
	patient(t)
	r := slowThen(t, 2*time.Second, func(chan struct{}) error { return status.Error(codes.ResourceExhausted, "too late") })

	ctx, cancel := context.WithTimeout(context.Background(), 4*time.Second) // a quarter is for the roll-back
	defer cancel()
	err := r.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "pod0"}})

	require.Regexp(t, `^of \S+ for plugins, 10-judge took \S+: plugin 20-judge rejected RunPodSandbox: too late$`, err.Error())
	require.Equal(t, codes.ResourceExhausted, status.Code(err))
	var failed *nri.PluginError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, "20-judge", failed.Plugin)
}

// A container fails if plugins contradict each other.
func TestErrorOfPluginsThatContradict(t *testing.T) {
	dir := t.TempDir()
	r := runtimeWith(t, dir, lists)
	for _, idx := range []string{"10", "20"} {
		p := &mockPlugin{idx: idx, name: "sets"}
		p.createContainer = func(*mockPlugin, *api.PodSandbox, *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
			a := &api.ContainerAdjustment{}
			a.AddEnv("OWNER", idx)
			return a, nil, nil
		}
		started(t, dir, p)
		require.NoError(t, p.Wait(PluginSynchronized, time.After(soon)))
	}
	pod, ctr := &api.PodSandbox{Id: "pod0"}, &api.Container{Id: "ctr0", PodSandboxId: "pod0"}
	require.NoError(t, r.RunPodSandbox(context.Background(), &api.RunPodSandboxRequest{Pod: pod}))

	_, err := r.CreateContainer(context.Background(), &api.CreateContainerRequest{Pod: pod, Container: ctr})

	require.ErrorContains(t, err, "20-sets")
	require.Equal(t, codes.FailedPrecondition, status.Code(err))
}
