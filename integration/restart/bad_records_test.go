// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

var notCounted = OnStock("nothing is counted")

// phasesOf returns the folder of the phases of sandboxes. Stock has none.
func phasesOf(n *node.Node) string {
	return filepath.Join(n.Folder(), "state", "io.containerd.grpc.v1.cri", "sandbox-phases")
}

// The runtime starts whatever is among the phases of sandboxes, and serves.
func TestL22_RuntimeStartsWhateverIsAmongThePhases(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	phases := phasesOf(n)
	l := NewLife(t, n, "kept")
	for is, put := range odd(phases) {
		t.Run(is, func(t *testing.T) {
			ctx := WithinAMinute(t)
			require.NoError(t, n.Kill(ctx))
			require.NoError(t, put())
			errBoot := n.Boot(ctx)
			Promise(t, "L22", "the runtime starts with "+is+", and runs pods", KeptOnStock, func(t require.TestingT) {
				require.NoError(t, errBoot)
				RequireReady(ctx, t, n, l.Pod)
				RequirePodRunsAgain(t, n, n.CRI().Pod("new"))
			})
			Promise(t, "L22", is+" is named in the log, and counted", notCounted, func(t require.TestingT) {
				counted, err := n.Metrics(ctx, SkippedMetric)
				require.NoError(t, err)
				assert.Equal(t, map[string]float64{`{kind="sandbox_phase"}`: 1}, counted)
				assert.NoError(t, HasLogged(n, "is not recovered", phases))
			})
		})
	}
	l.End(t)
	RequireNothingLeft(t, n)
}

// badRecord is a record that cannot be read, with the expected results.
type badRecord struct {
	of      string
	path    func(l Life) []string // the buckets, and a key in the last one
	text    []byte
	start   func(*testing.T, ...func(*node.Options)) *node.Node
	metric  string
	kind    string
	unready string // "pod" or "container": which of them is shown as not ready or unknown
	says    string // the reason
	stock   Breach // of the start
	known   Breach
}

// A value in one record cannot be read: all other pods run, the pod with that record is listed and
// can be ended, and its resources do not count as leftovers.
func TestL22_RuntimeStartsPastRecordsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	notAny := []byte{0xff}                // no protobuf message
	notJSON := []byte("\n\x01x\x12\x01{") // a message whose value is no JSON
	endsCRI, leftOut := OnStock("CRI does not start"), OnStock("it is not ready or not listed, and its process cannot be ended")
	setAside := "containerd_metadata_unreadable_records_total"
	for _, record := range []badRecord{
		{"a sandbox", func(l Life) []string { return []string{"sandboxes", l.Pod, "spec"} }, notAny, StartNode,
			setAside, "sandbox", "", "spec: ", endsCRI, endsCRI},
		{"the metadata of a sandbox of a shim", func(l Life) []string { return []string{"sandboxes", l.Pod, "extensions", "metadata"} }, notJSON, StartSandboxer,
			SkippedMetric, "sandbox", "pod", "metadata", endsCRI, endsCRI},
		{"an update of a sandbox", func(l Life) []string { return []string{"sandboxes", l.Pod, "extensions", "updated-resources"} }, notJSON, StartNode,
			SkippedMetric, "sandbox_update", "", "", KeptOnStock, leftOut},
		{"the container of a sandbox", func(l Life) []string { return []string{"containers", l.Pod, "spec"} }, notAny, StartNode,
			setAside, "container", "pod", "spec: ", endsCRI, endsCRI},
		{"the metadata of the container of a sandbox", func(l Life) []string {
			return []string{"containers", l.Pod, "extensions", "io.cri-containerd.sandbox.metadata"}
		}, notAny, StartNode,
			setAside, "container", "pod", "extensions/io.cri-containerd.sandbox.metadata: ", endsCRI, endsCRI},
		{"a container", func(l Life) []string { return []string{"containers", l.Container, "spec"} }, notAny, StartNode,
			setAside, "container", "container", "spec: ", endsCRI, endsCRI},
		{"the metadata of a container", func(l Life) []string {
			return []string{"containers", l.Container, "extensions", "io.cri-containerd.container.metadata"}
		}, notJSON, StartNode,
			SkippedMetric, "container", "container", "type with url x", KeptOnStock, leftOut},
		{"the time of a container", func(l Life) []string { return []string{"containers", l.Container, "createdat"} }, notAny, StartNode,
			setAside, "container", "", "", endsCRI, endsCRI},
		{"the time of a sandbox", func(l Life) []string { return []string{"containers", l.Pod, "createdat"} }, notAny, StartNode,
			setAside, "container", "", "", endsCRI, endsCRI},
	} {
		t.Run(record.of, func(t *testing.T) {
			t.Parallel()
			startsPast(t, record)
		})
	}
}

// startsPast overwrites a record of a running pod while the runtime is down, and checks how the
// runtime handles it.
func startsPast(t *testing.T, record badRecord) {
	t.Helper()
	n := record.start(t, collectsAtStart)
	ctx := WithinAMinute(t)
	bad, good := NewLife(t, n, "bad"), NewLife(t, n, "good")
	processes := []int{pidOf(t, n, bad.Container)}
	if _, err := n.Containerd().LoadContainer(ctx, bad.Pod); err == nil { // some shims make no container for it
		processes = append(processes, pidOf(t, n, bad.Pod))
	}
	folders, err := filepath.Glob(filepath.Join(n.Folder(), "*", "io.containerd.grpc.v1.cri", "*", bad.Pod))
	require.NoError(t, err)
	more, err := filepath.Glob(filepath.Join(n.Folder(), "*", "io.containerd.grpc.v1.cri", "containers", bad.Container))
	require.NoError(t, err)
	require.Len(t, more, 2)
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, Overwrite(n, record.text, record.path(bad)...))
	errBoot := n.Boot(ctx)
	Promise(t, "L22", "the runtime starts past "+record.of+" that cannot be read, and runs pods", record.stock, func(t require.TestingT) {
		require.NoError(t, errBoot)
		RequireReady(ctx, t, n, good.Pod)
		RunningSince(ctx, t, n, good.Container)
		RequirePodRunsAgain(t, n, n.CRI().Pod("new"))
	})
	Promise(t, "L22", record.of+" that cannot be read is named in the log, and counted", notCounted, func(t require.TestingT) {
		require.NoError(t, errBoot)
		counted, err := n.Metrics(ctx, record.metric)
		require.NoError(t, err)
		assert.GreaterOrEqual(t, counted[fmt.Sprintf("{kind=%q}", record.kind)], float64(1), "%v", counted)
		assert.NoError(t, HasLogged(n, "level=error", record.path(bad)[1]))
	})
	Promise(t, "L22", "the pod and the container are listed, with the reason", record.known, func(t require.TestingT) {
		require.NoError(t, errBoot)
		requireShown(ctx, t, n, bad, record.unready == "pod", record.unready == "container", record.says)
	})
	Promise(t, "L22", "their resources are kept", record.stock, func(t require.TestingT) {
		require.NoError(t, errBoot)
		for _, pid := range processes {
			assert.NoError(t, unix.Kill(pid, 0), "process %d", pid)
		}
		for _, folder := range append(folders, more...) {
			assert.DirExists(t, folder)
		}
		attachments, err := filepath.Glob(filepath.Join(n.Attachments(), "*"+bad.Pod+"*"))
		require.NoError(t, err)
		assert.NotEmpty(t, attachments)
	})
	Promise(t, "L22", "they can be stopped and removed, which ends their processes", record.known, func(t require.TestingT) {
		require.NoError(t, errBoot)
		c := n.CRI()
		require.NoError(t, c.Stop(ctx, bad.Container, 10*time.Second))
		require.NoError(t, c.Remove(ctx, bad.Container))
		EndPod(ctx, t, n, bad.Pod)
		for _, pid := range processes {
			assert.ErrorIs(t, unix.Kill(pid, 0), unix.ESRCH, "process %d", pid)
		}
		EndPod(ctx, t, n, good.Pod)
		RequireNothingLeft(t, n)
	})
}

// Plugins receive the ends of a container whose specification cannot be read with its pod and name.
func TestL3_EndOfAContainerThatCannotBeReadIsDeliveredWithItsPod(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	bad := NewLife(t, n, "bad")
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, Overwrite(n, []byte{0xff}, "containers", bad.Container, "spec"))
	errBoot := n.Boot(ctx)
	Promise(t, "L3", "its ends name pod and container", OnStock("CRI does not start"), func(t require.TestingT) {
		require.NoError(t, errBoot)
		p := plugin.New("10", "receives")
		require.NoError(t, p.Connect(ctx, n.NRISocket()))
		defer p.Crash()
		require.NoError(t, c.Stop(ctx, bad.Container, 10*time.Second))
		require.NoError(t, c.Remove(ctx, bad.Container))
		for _, event := range []plugin.Event{plugin.StopContainer, plugin.RemoveContainer} {
			calls := p.Calls().Only(event)
			require.Len(t, calls, 1, event)
			assert.Equal(t, bad.Pod, calls[0].Pod.GetId(), event)
			assert.Equal(t, bad.Pod, calls[0].Container.GetPodSandboxId(), event)
			assert.Equal(t, "main", calls[0].Container.GetName(), event)
		}
		EndPod(ctx, t, n, bad.Pod)
		RequireNothingLeft(t, n)
	})
}

// A container that has exited stays exited, whatever part of its record cannot be read, and is not
// updated.
func TestL22_ExitedContainerThatCannotBeReadHasExited(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	exited, running := NewLife(t, n, "exited"), NewLife(t, n, "running")
	require.NoError(t, c.Stop(ctx, exited.Container, 10*time.Second))
	require.NoError(t, n.Kill(ctx))
	for _, l := range []Life{exited, running} {
		require.NoError(t, Overwrite(n, []byte{0xff}, "containers", l.Container, "spec"))
	}
	errBoot := n.Boot(ctx)
	Promise(t, "L22", "it has exited, with the reason why it is incomplete", OnStock("CRI does not start"), func(t require.TestingT) {
		require.NoError(t, errBoot)
		r, err := c.Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: exited.Container, Verbose: true})
		require.NoError(t, err)
		assert.Equal(t, runtime.ContainerState_CONTAINER_EXITED, r.GetStatus().GetState())
		assert.Contains(t, r.GetInfo()["unreadable"], "spec: ")
		_, err = c.Runtime.UpdateContainerResources(ctx, &runtime.UpdateContainerResourcesRequest{
			ContainerId: running.Container, Linux: &runtime.LinuxContainerResources{CpuShares: 512},
		})
		assert.ErrorContains(t, err, "cannot be updated")
	})
}

// collectsAtStart makes networks free the addresses of pods that do not exist.
func collectsAtStart(o *node.Options) {
	o.Config += "version = 3\n[plugins.'io.containerd.cri.v1.runtime'.cni]\ngc_on_start = true\n"
}

// pidOf returns the process of a container.
func pidOf(t *testing.T, n *node.Node, id string) int {
	t.Helper()
	ctx := WithinAMinute(t)
	container, err := n.Containerd().LoadContainer(ctx, id)
	require.NoError(t, err)
	task, err := container.Task(ctx, nil)
	require.NoError(t, err)
	return int(task.Pid())
}

// requireShown checks how CRI shows a pod and its container: whether each is known to run, and the
// reason if a record could not be read.
func requireShown(ctx context.Context, t require.TestingT, n Runtime, l Life, podUnready, containerUnknown bool, says string) {
	ofPod, ofContainer := runtime.PodSandboxState_SANDBOX_READY, runtime.ContainerState_CONTAINER_RUNNING
	if podUnready {
		ofPod = runtime.PodSandboxState_SANDBOX_NOTREADY
	}
	if containerUnknown {
		ofContainer = runtime.ContainerState_CONTAINER_UNKNOWN
	}
	p, err := n.CRI().Runtime.PodSandboxStatus(ctx, &runtime.PodSandboxStatusRequest{PodSandboxId: l.Pod, Verbose: true})
	require.NoError(t, err)
	assert.Equal(t, ofPod, p.GetStatus().GetState())
	require.NotNil(t, p.GetStatus().GetMetadata(), "a kubelet reads it")
	c, err := n.CRI().Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: l.Container, Verbose: true})
	require.NoError(t, err)
	assert.Equal(t, ofContainer, c.GetStatus().GetState())
	require.NotNil(t, c.GetStatus().GetMetadata(), "a kubelet reads it")
	reason := p.GetInfo()["unreadable"]
	if containerUnknown {
		reason = c.GetInfo()["unreadable"]
	}
	if says == "" {
		assert.Empty(t, reason)
	}
	assert.Contains(t, reason, says)

	pods, err := n.CRI().Pods(ctx)
	require.NoError(t, err)
	states := map[string]runtime.PodSandboxState{}
	for _, pod := range pods {
		states[pod.GetId()] = pod.GetState()
		require.NotNil(t, pod.GetMetadata())
	}
	assert.Contains(t, states, l.Pod)
	assert.Equal(t, ofPod, states[l.Pod])
	containers, err := n.CRI().Runtime.ListContainers(ctx, &runtime.ListContainersRequest{})
	require.NoError(t, err)
	found := false
	for _, container := range containers.GetContainers() {
		if container.GetId() == l.Container {
			found = true
			assert.Equal(t, ofContainer, container.GetState())
			assert.Equal(t, l.Pod, container.GetPodSandboxId())
		}
	}
	assert.True(t, found, "the container is in the list")
}

// If neither the metadata nor the specification of a pod can be read, it may have a network of its
// own: its addresses are freed with it.
func TestL22_AddressesOfAPodThatCannotBeReadAreFreed(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	ctx, c := WithinAMinute(t), n.CRI()
	bad := NewLife(t, n, "bad")
	require.NoError(t, n.Kill(ctx))
	for _, path := range [][]string{
		{"containers", bad.Pod, "spec"},
		{"containers", bad.Pod, "extensions", "io.cri-containerd.sandbox.metadata"},
		{"sandboxes", bad.Pod, "extensions", "metadata"},
	} {
		require.NoError(t, Overwrite(n, []byte{0xff}, path...))
	}
	errBoot := n.Boot(ctx)
	Promise(t, "L22", "the pod is removed from its network", OnStock("CRI does not start"), func(t require.TestingT) {
		require.NoError(t, errBoot)
		require.NoError(t, c.Stop(ctx, bad.Container, 10*time.Second))
		require.NoError(t, c.Remove(ctx, bad.Container))
		EndPod(ctx, t, n, bad.Pod)
		left, err := n.Leftovers(ctx)
		require.NoError(t, err)
		for _, l := range left {
			assert.NotContains(t, []string{"address", "attachment"}, l.Kind, "%s", l)
		}
	})
}
