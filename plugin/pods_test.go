// SPDX-License-Identifier: Apache-2.0

package plugin_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/podstate"
)

// node counts what a plugin takes and frees.
type node struct {
	folder string
	end    func() // of the process that has the folder

	mu     sync.Mutex                             // guards what follows
	calls  []string                               // such as "take a" and "free a /dev/a"
	during map[string]func(context.Context) error // what Take and Free do, by the call without its value
}

func newNode(t *testing.T) *node {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "[odd*")
	require.NoError(t, os.Mkdir(folder, 0o700))
	return &node{folder: folder, end: func() {}, during: make(map[string]func(context.Context) error)}
}

// open returns the Pods of a plugin that has just started, in place of the one that runs.
func (n *node) open(t *testing.T) *plugin.Pods[string] {
	t.Helper()
	n.end()
	ctx, cancel := context.WithCancel(t.Context())
	n.end = cancel
	pods, err := plugin.OpenPods(ctx, n.folder, n.take, n.free)
	require.NoError(t, err)
	pods.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	return pods
}

// on sets what a call does.
func (n *node) on(call string, do func(context.Context) error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.during[call] = do
}

func (n *node) take(ctx context.Context, pod *api.PodSandbox) (string, error) {
	return "/dev/" + pod.GetId(), n.call(ctx, "take "+pod.GetId())
}

func (n *node) free(ctx context.Context, id, held string) error {
	return n.call(ctx, "free "+id, held)
}

func (n *node) call(ctx context.Context, call string, held ...string) error {
	n.mu.Lock()
	n.calls = append(n.calls, strings.Join(append([]string{call}, held...), " "))
	do := n.during[call]
	n.mu.Unlock()
	if do == nil {
		return nil
	}
	return do(ctx)
}

// called returns the calls since it was called last, in the order of the alphabet.
func (n *node) called() []string {
	calls := n.inOrder()
	slices.Sort(calls)
	return calls
}

// inOrder returns the calls since it was called last.
func (n *node) inOrder() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	calls := n.calls
	n.calls = nil
	return calls
}

// fails is a call that fails.
func fails(text string) func(context.Context) error {
	return func(context.Context) error { return errors.New(text) }
}

// takes lets Take of pod a run until end is called, which returns what RunPodSandbox has returned.
func (n *node) takes(t *testing.T, pods *plugin.Pods[string]) (end func() error) {
	t.Helper()
	began, over, ran := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	n.on("take a", func(context.Context) error {
		close(began)
		<-over
		return nil
	})
	go func() { ran <- pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)) }()
	<-began
	return func() error {
		close(over)
		return <-ran
	}
}

// hangs is a call that does nothing until its context ends.
func hangs(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func pod(id string, state podstate.State) *api.PodSandbox {
	p := &api.PodSandbox{Id: id}
	podstate.Set(p, state)
	return p
}

func synchronize(t *testing.T, pods *plugin.Pods[string], all ...*api.PodSandbox) {
	t.Helper()
	updates, err := pods.Synchronize(t.Context(), all, nil)
	require.NoError(t, err)
	require.Empty(t, updates)
}

// holds waits until the plugin holds something for a pod, or nothing.
func holds(t *testing.T, pods *plugin.Pods[string], id string, want bool) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) {
		_, ok, err := pods.Get(id)
		assert.NoError(c, err)
		assert.Equal(c, want, ok)
	}, 20*time.Second, 5*time.Millisecond)
}

func TestPodsTakeAndFreeOnce(t *testing.T) {
	n := newNode(t)
	pods, ctx := n.open(t), t.Context()
	for range 2 {
		require.NoError(t, pods.RunPodSandbox(ctx, pod("a", podstate.Creating)))
	}
	held, ok, err := pods.Get("a")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "/dev/a", held)
	synchronize(t, pods, pod("a", podstate.Ready))
	require.Equal(t, []string{"take a"}, n.called())
	for range 2 {
		require.NoError(t, pods.StopPodSandbox(ctx, pod("a", podstate.Ready)))
		require.NoError(t, pods.RemovePodSandbox(ctx, pod("a", podstate.Stopped)))
	}
	holds(t, pods, "a", false)
	require.Equal(t, []string{"free a /dev/a"}, n.called())
}

// What was taken is found by the next process.
func TestPodsAreKeptOverRestarts(t *testing.T) {
	n := newNode(t)
	require.NoError(t, n.open(t).RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
	pods := n.open(t)
	synchronize(t, pods, pod("a", podstate.Ready))
	require.Equal(t, []string{"take a"}, n.called())
	require.NoError(t, n.open(t).StopPodSandbox(t.Context(), pod("a", podstate.Ready)))
	require.Equal(t, []string{"free a /dev/a"}, n.called())
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.Error(t, pods.RunPodSandbox(ctx, pod("b", podstate.Creating)), "its process has ended")
	require.Error(t, ctx.Err(), "nothing is answered: that would reject the pod")
	require.Empty(t, n.called())
}

// Two processes do not use one folder at the same time: the second waits until the first does nothing more.
func TestPodsHaveTheirFolderAlone(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	end := n.takes(t, pods)
	n.end()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := plugin.OpenPods(ctx, n.folder, n.take, n.free)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.NoError(t, end())
	holds(t, n.open(t), "a", true)
}

// What pods had that have ended is free before others take.
func TestPodsOfSynchronize(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	for _, id := range []string{"gone", "stopped", "kept", "creating"} {
		require.NoError(t, pods.RunPodSandbox(t.Context(), pod(id, podstate.Creating)))
	}
	n.called()
	synchronize(t, pods, pod("kept", podstate.Ready), pod("stopped", podstate.Stopped), pod("creating", podstate.Creating),
		pod("new", podstate.Ready), pod("stock", podstate.Unknown))
	calls := n.inOrder()
	require.Len(t, calls, 4)
	require.ElementsMatch(t, []string{"free gone /dev/gone", "free stopped /dev/stopped"}, calls[:2])
	require.ElementsMatch(t, []string{"take new", "take stock"}, calls[2:])
}

// A Take that fails rejects the pod, and Free comes with the pod's end.
func TestPodsAfterATakeThatFails(t *testing.T) {
	n := newNode(t)
	n.on("take a", fails("no device"))
	pods := n.open(t)
	require.ErrorContains(t, pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)), "no device")
	holds(t, pods, "a", false)
	require.NoError(t, pods.StopPodSandbox(t.Context(), pod("a", podstate.Unknown)))
	require.Equal(t, []string{"free a ", "take a"}, n.called())
}

// A Take of Synchronize that fails is tried again, until the pod ends.
func TestPodsThatRunAreTakenInTheEnd(t *testing.T) {
	n := newNode(t)
	n.on("take a", fails("no device"))
	n.on("take c", fails("no device"))
	pods := n.open(t)
	synchronize(t, pods, pod("a", podstate.Ready), pod("b", podstate.Ready), pod("c", podstate.Ready))
	holds(t, pods, "b", true)
	require.NoError(t, pods.StopPodSandbox(t.Context(), pod("c", podstate.Ready)))
	n.called()
	n.on("take a", nil)
	holds(t, pods, "a", true)
	require.NotContains(t, n.called(), "take c")
}

// A Free that fails is tried again, also by the next process.
func TestPodsAreFreedInTheEnd(t *testing.T) {
	n := newNode(t)
	pods, ctx := n.open(t), t.Context()
	require.NoError(t, pods.RunPodSandbox(ctx, pod("a", podstate.Creating)))
	n.on("free a", fails("the switch does not answer"))
	require.ErrorContains(t, pods.StopPodSandbox(ctx, pod("a", podstate.Ready)), "switch")
	require.ErrorContains(t, pods.RemovePodSandbox(ctx, pod("a", podstate.Stopped)), "switch")
	pods = n.open(t)
	synchronize(t, pods)
	holds(t, pods, "a", true)
	n.on("free a", nil)
	holds(t, pods, "a", false)
	require.Contains(t, n.called(), "free a /dev/a")
	synchronize(t, pods)
	require.Empty(t, n.called())
}

// A Free that fails in an event is tried again without another event.
func TestPodsAreFreedWithoutAnotherEvent(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	require.NoError(t, pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
	n.on("free a", func(context.Context) error {
		n.on("free a", nil)
		return errors.New("busy")
	})
	require.ErrorContains(t, pods.RemovePodSandbox(t.Context(), pod("a", podstate.Stopped)), "busy")
	holds(t, pods, "a", false)
	idle(t, pods)
}

// idle waits until no Take or Free is tried again.
func idle(t *testing.T, pods *plugin.Pods[string]) {
	t.Helper()
	require.Eventually(t, func() bool { return pods.Tasks() == 0 }, 20*time.Second, 5*time.Millisecond)
}

// A Take that could not begin is no longer tried when the pod is gone, nor when the plugin has ended.
func TestPodsDropEarlierTasks(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	blocked := filepath.Join(n.folder, "a.json", "full") // a folder is no record, and none can replace it
	require.NoError(t, os.MkdirAll(blocked, 0o700))
	synchronize(t, pods, pod("a", podstate.Ready))
	require.Equal(t, 1, pods.Tasks())
	synchronize(t, pods)
	require.Zero(t, pods.Tasks())
	synchronize(t, pods, pod("a", podstate.Ready))
	n.end()
	idle(t, pods)
	require.Empty(t, n.called(), "nothing is taken without a record")
}

// A pod whose Take or Free hangs does not keep the plugin from its registration, nor other pods from theirs.
func TestPodsThatHangDelayNoOthers(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	require.NoError(t, pods.RunPodSandbox(t.Context(), pod("gone", podstate.Creating)))
	require.NoError(t, pods.RunPodSandbox(t.Context(), pod("old", podstate.Creating)))
	n.on("free gone", hangs)
	n.on("take stuck", hangs)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := pods.Synchronize(ctx, []*api.PodSandbox{pod("stuck", podstate.Ready), pod("new", podstate.Ready)}, nil)
	require.NoError(t, err)
	require.NoError(t, ctx.Err(), "the runtime waits no longer")
	holds(t, pods, "new", true)
	holds(t, pods, "old", false)
	holds(t, pods, "gone", true)
	holds(t, pods, "stuck", false)

	n.on("free gone", nil)
	ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second) // less than a try may take
	defer cancel()
	require.NoError(t, pods.RemovePodSandbox(ctx, pod("gone", podstate.Stopped)), "the earlier try is canceled")
	_, err = pods.Synchronize(ctx, nil, nil)
	require.NoError(t, err)
	idle(t, pods)
	require.NoError(t, ctx.Err())
}

// A Free that hangs does not keep a stop until the runtime cuts the plugin, nor the next event of the pod.
func TestPodsThatHangAnswerInTime(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	require.NoError(t, pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
	n.on("free a", hangs)
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, pods.StopPodSandbox(ctx, pod("a", podstate.Ready)), "in the background")
	require.NoError(t, ctx.Err())
	require.Equal(t, 1, pods.Tasks())

	n.on("take b", hangs)
	ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	_, err := pods.Synchronize(ctx, []*api.PodSandbox{pod("a", podstate.Ready), pod("b", podstate.Unknown)}, nil)
	require.NoError(t, err)
	n.on("take b", nil)
	ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second) // less than a try may take
	defer cancel()
	require.NoError(t, pods.RunPodSandbox(ctx, pod("b", podstate.Creating)))
	holds(t, pods, "a", true) // the pod runs, as Synchronize says
	idle(t, pods)
}

// A process that is killed in Take or Free leaves a record, by which the next one frees the pod.
func TestPodsAfterAKill(t *testing.T) {
	for call, freed := range map[string]string{"take a": "free a ", "free a": "free a /dev/a"} {
		t.Run(call, func(t *testing.T) {
			n, left := newNode(t), filepath.Join(t.TempDir(), "left")
			pods := n.open(t)
			n.on(call, func(context.Context) error { return os.CopyFS(left, os.DirFS(n.folder)) })
			require.NoError(t, pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
			require.NoError(t, pods.StopPodSandbox(t.Context(), pod("a", podstate.Ready)))
			n.on(call, nil)
			n.called()

			n.folder = left
			synchronize(t, n.open(t))
			require.Equal(t, []string{freed}, n.called())
			synchronize(t, n.open(t), pod("a", podstate.Ready))
			require.Equal(t, []string{"take a"}, n.called())
		})
	}
}

// A value that cannot be kept is freed at once: it would be lost.
func TestPodsFreeWhatTheyCannotRecord(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	n.on("take a", func(context.Context) error { // the second record of the pod cannot replace the first
		name := filepath.Join(n.folder, "a.json")
		return errors.Join(os.Remove(name), os.MkdirAll(filepath.Join(name, "full"), 0o700))
	})
	require.Error(t, pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
	require.Equal(t, []string{"free a /dev/a", "take a"}, n.called())
}

// Such a value has no record either: the pod would run without it.
func TestPodsForgetWhatTheyCouldNotRecord(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	n.on("take a", func(context.Context) error { return pods.CloseFolder() })
	require.Error(t, pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
	holds(t, pods, "a", false)
	require.Equal(t, []string{"free a /dev/a", "take a"}, n.called())
}

// Other users cannot read what a plugin holds.
func TestModesOfRecords(t *testing.T) {
	n := newNode(t)
	n.folder = filepath.Join(n.folder, "not", "yet")
	require.NoError(t, n.open(t).RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
	for name, want := range map[string]os.FileMode{n.folder: 0o700 | os.ModeDir, filepath.Join(n.folder, "a.json"): 0o600} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, want, info.Mode())
	}
}

// A record that was damaged is freed, and taken again for a pod that runs.
func TestPodsOfDamagedRecords(t *testing.T) {
	n := newNode(t)
	for name, text := range map[string]string{"empty.json": "", "half.json": `{"taken":tr`} {
		require.NoError(t, os.WriteFile(filepath.Join(n.folder, name), []byte(text), 0o600))
	}
	pods := n.open(t)
	synchronize(t, pods, pod("half", podstate.Ready))
	require.Equal(t, []string{"free empty ", "take half"}, n.called())
	holds(t, pods, "half", true)
}

// A record that cannot be read is neither taken nor freed: what it holds would be lost.
func TestPodsOfUnreadableRecords(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	require.NoError(t, os.Symlink("a.json", filepath.Join(n.folder, "a.json")))
	require.Error(t, pods.RunPodSandbox(t.Context(), pod("a", podstate.Creating)))
	require.Error(t, pods.StopPodSandbox(t.Context(), pod("a", podstate.Ready)))
	_, _, err := pods.Get("a")
	require.Error(t, err)
	require.Empty(t, n.called())
}

// A plugin whose records are of another type does not start: it would take everything again.
func TestPodsOfAnotherType(t *testing.T) {
	n := newNode(t)
	require.NoError(t, os.WriteFile(filepath.Join(n.folder, "a.json"), []byte(`{"taken":true,"value":7}`), 0o600))
	_, err := plugin.OpenPods(t.Context(), n.folder, n.take, n.free)
	require.ErrorContains(t, err, "pod a")
	require.NoError(t, os.Remove(filepath.Join(n.folder, "a.json")))
	n.open(t)
}

// Files that are no records are left alone, but for those of a process that was killed while it wrote.
func TestOtherFilesAreLeftAlone(t *testing.T) {
	n := newNode(t)
	for _, name := range []string{"config", ".a.json123", ".hidden", ".a.jsonish.d"} {
		require.NoError(t, os.WriteFile(filepath.Join(n.folder, name), nil, 0o600))
	}
	for _, name := range []string{"lost+found", "folder.json", ".snapshot", ".a.json.d"} {
		require.NoError(t, os.MkdirAll(filepath.Join(n.folder, name, "file"), 0o700))
	}
	synchronize(t, n.open(t))
	require.Empty(t, n.called())
	files, err := os.ReadDir(n.folder)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	require.Equal(t, []string{".a.json.d", ".hidden", ".snapshot", "config", "folder.json", "lost+found"}, names)
}

// The id of a pod comes from outside.
func TestPodsWithOddIDs(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	for _, id := range []string{"", ".", "..", "/", ".hidden", "a/b", "../a", "a\x00", strings.Repeat("x", 300)} {
		require.Error(t, pods.RunPodSandbox(t.Context(), pod(id, podstate.Creating)), id)
		require.NoError(t, pods.RemovePodSandbox(t.Context(), pod(id, podstate.Stopped)), id)
	}
	require.Empty(t, n.called())
	long := strings.Repeat("x", 200)
	require.NoError(t, pods.RunPodSandbox(t.Context(), pod(long, podstate.Creating)))
	synchronize(t, pods)
	require.Equal(t, []string{"free " + long + " /dev/" + long, "take " + long}, n.called())
}

// The events of one pod come one after the other, and those of others do not wait for them.
func TestPodsTakeTurns(t *testing.T) {
	n := newNode(t)
	pods := n.open(t)
	end := n.takes(t, pods)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, pods.StopPodSandbox(ctx, pod("a", podstate.Ready)), context.DeadlineExceeded)
	require.NoError(t, pods.StopPodSandbox(t.Context(), pod("b", podstate.Ready)))
	require.NoError(t, end())
	holds(t, pods, "a", false) // the stop goes on
	require.Equal(t, []string{"free a /dev/a", "take a"}, n.called())
	cancel()
	require.Error(t, pods.RunPodSandbox(ctx, pod("a", podstate.Creating)))
	require.Empty(t, n.called(), "what was canceled while it waited comes no more")
}

func TestOpenPodsNeedsAFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, folder := range []string{"", file} {
		n := &node{}
		_, err := plugin.OpenPods(t.Context(), folder, n.take, n.free)
		require.Error(t, err)
	}
}
