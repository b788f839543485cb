// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
)

// A lives is a runtime in which containers come and go, each in a pod of its own. Its kind
// decides which events it sends, and which lock it holds.
type lives struct {
	*nri.Adaptation
	lock sync.RWMutex    // guards pods
	pods map[string]bool // and whether each has its container
}

func newLives(t *testing.T, dir string) *lives {
	t.Helper()
	l := &lives{pods: make(map[string]bool)}
	l.Adaptation = runtimeWith(t, dir, l.sync)
	return l
}

func (l *lives) sync(ctx context.Context, cb nri.SyncCB) error {
	l.lock.Lock()
	defer l.lock.Unlock()
	var pods []*api.PodSandbox
	var ctrs []*api.Container
	for _, id := range slices.Sorted(maps.Keys(l.pods)) {
		pods = append(pods, podOf(id))
		if l.pods[id] {
			ctrs = append(ctrs, containerOf(id))
		}
	}
	_, err := cb(ctx, pods, ctrs)
	return err
}

func podOf(id string) *api.PodSandbox { return &api.PodSandbox{Id: id, Name: id} }

func containerOf(id string) *api.Container {
	return &api.Container{Id: "c" + id, PodSandboxId: id, Name: id}
}

// set sets whether a pod exists, and whether it has its container.
func (l *lives) set(id string, exists, container bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	delete(l.pods, id)
	if exists {
		l.pods[id] = container
	}
}

// A course is the life of one container. made is whether the runtime makes it after the
// plugins were asked, stays whether it stays.
type course func(t *testing.T, l *lives, id string, made, stays bool)

var courses = map[string]course{
	// It blocks the synchronization of plugins, and rolls back a container that it fails to make.
	"containerd": func(t *testing.T, l *lives, id string, made, stays bool) {
		defer l.BlockPluginSync().Unblock()
		l.set(id, true, false)
		require.NoError(t, l.RunPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: podOf(id)}))
		_, err := l.CreateContainer(t.Context(), &api.CreateContainerRequest{Pod: podOf(id), Container: containerOf(id)})
		require.NoError(t, err)
		if made {
			l.set(id, true, true)
			require.NoError(t, l.PostCreateContainer(t.Context(), &api.PostCreateContainerRequest{Pod: podOf(id), Container: containerOf(id)}))
		}
		if stays {
			return
		}
		require.NoError(t, l.RemoveContainer(t.Context(), &api.RemoveContainerRequest{Pod: podOf(id), Container: containerOf(id)}))
		require.NoError(t, l.StopPodSandbox(t.Context(), &api.StopPodSandboxRequest{Pod: podOf(id)}))
		require.NoError(t, l.RemovePodSandbox(t.Context(), &api.RemovePodSandboxRequest{Pod: podOf(id)}))
		l.set(id, false, false)
	},
	// It has a lock of its own for each event, sends no end of a container that it fails to make,
	// and drops a pod from its list before it sends the pod's removal.
	"CRI-O": func(t *testing.T, l *lives, id string, made, stays bool) {
		var event sync.Mutex
		under := func(f func() error) {
			event.Lock()
			defer event.Unlock()
			require.NoError(t, f())
		}
		l.set(id, true, false)
		under(func() error {
			return l.RunPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: podOf(id)})
		})
		under(func() error {
			_, err := l.CreateContainer(t.Context(), &api.CreateContainerRequest{Pod: podOf(id), Container: containerOf(id)})
			return err
		})
		if made {
			l.set(id, true, true)
			under(func() error {
				return l.PostCreateContainer(t.Context(), &api.PostCreateContainerRequest{Pod: podOf(id), Container: containerOf(id)})
			})
		}
		if stays {
			return
		}
		under(func() error {
			return l.StopPodSandbox(t.Context(), &api.StopPodSandboxRequest{Pod: podOf(id)})
		})
		l.set(id, false, false)
		under(func() error {
			return l.RemovePodSandbox(t.Context(), &api.RemovePodSandboxRequest{Pod: podOf(id)})
		})
	},
	// It sends one event, and lets no plugin be synchronized during that.
	"moby": func(t *testing.T, l *lives, id string, made, stays bool) {
		l.lock.RLock()
		_, err := l.CreateContainer(t.Context(), &api.CreateContainerRequest{Pod: podOf(id), Container: containerOf(id)})
		l.lock.RUnlock()
		require.NoError(t, err)
		if made {
			l.set(id, true, true)
		}
		if !stays {
			l.set(id, false, false)
		}
	},
}

// A plugin that joins receives exactly the pods and containers that the runtime lists, whether
// or not the runtime has sent the ends of earlier ones.
func TestJoiningPluginReceivesNothingThatIsGone(t *testing.T) {
	for kind, lives := range courses {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			l := newLives(t, dir)
			first, next := &mockPlugin{idx: "00", name: "first"}, &mockPlugin{idx: "10", name: "next"}
			started(t, dir, first)
			require.NoError(t, first.Wait(PluginSynchronized, time.After(soon)))
			for i := range 200 {
				lives(t, l, fmt.Sprint("pod", i), i%10 != 0, false)
			}
			lives(t, l, "stays", true, true)
			lives(t, l, "empty", false, true)
			started(t, dir, next)
			require.NoError(t, next.Wait(PluginSynchronized, time.After(soon)))
			require.Equal(t, []string{"cstays"}, slices.Collect(maps.Keys(next.ctrs)))
			for id := range next.pods {
				require.Contains(t, []string{"stays", "empty"}, id)
			}
		})
	}
}
