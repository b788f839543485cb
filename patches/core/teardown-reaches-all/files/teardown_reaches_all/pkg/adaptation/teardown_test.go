// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/containerd/nri/pkg/api"
)

// Every plugin receives the end of a pod or container, whatever the others return.
// The runtime receives each error, with the name of its plugin.
func TestTeardownReachesAllPlugins(t *testing.T) {
	var (
		ctx = context.Background()
		pod = &api.PodSandbox{Id: "pod0", Name: "pod0", Uid: "uid0", Namespace: "default"}
		ctr = &api.Container{Id: "ctr0", PodSandboxId: "pod0", Name: "ctr0"}
	)

	for _, tc := range lifecycleRequests {
		switch tc.event {
		case StopPodSandbox, RemovePodSandbox, StopContainer, RemoveContainer:
		default:
			continue
		}
		t.Run(tc.event, func(t *testing.T) {
			s := &Suite{}
			first := rejectsEnds("00", "first")
			second := rejectsEnds("10", "second")
			last := &mockPlugin{idx: "20", name: "last"}
			s.Prepare(t, &mockRuntime{}, first, second, last)
			s.Startup()
			rt := s.runtime.runtime

			require.NoError(t, rt.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}))
			_, err := rt.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: ctr})
			require.NoError(t, err)

			err = tc.send(ctx, rt, pod, ctr)
			require.ErrorContains(t, err, first.FullName())
			require.ErrorContains(t, err, second.FullName())
			require.NotContains(t, err.Error(), last.FullName())

			want := &Event{Type: EventType(tc.event), Pod: pod, Ctr: ctr}
			require.NoError(t, last.Wait(want, time.After(startupTimeout)))
		})
	}
}

// rejectsEnds returns a plugin that fails to handle the end of any object.
func rejectsEnds(idx, name string) *mockPlugin {
	fail := func(*mockPlugin, *api.PodSandbox, *api.Container) error {
		return errors.New("rejected by " + name)
	}
	return &mockPlugin{
		idx:              idx,
		name:             name,
		stopPodSandbox:   fail,
		removePodSandbox: fail,
		removeContainer:  fail,
		stopContainer: func(*mockPlugin, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
			return nil, errors.New("rejected by " + name)
		},
	}
}
