// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// A missed event has all that a plugin needs to free its resources.
func TestMissedRequestsHaveWhatAnEndNeeds(t *testing.T) {
	pod := &PodSandbox{
		Id: "pod0", Name: "name", Uid: "uid", Namespace: "default", RuntimeHandler: "runc", Ips: []string{"10.0.0.1"},
		Labels: map[string]string{"app": "web"}, Annotations: map[string]string{"a": "b"},
		Linux: &LinuxPodSandbox{
			CgroupParent: "/kubepods", CgroupsPath: "/kubepods/pod0",
			Namespaces: []*LinuxNamespace{{Type: "network", Path: "/run/netns/n"}},
		},
	}
	ctr := &Container{
		Id: "ctr0", PodSandboxId: "pod0", Name: "main", State: ContainerState_CONTAINER_STOPPED,
		CreatedAt: 1, StartedAt: 2, FinishedAt: 3, ExitCode: 137,
		Labels: map[string]string{"c": "d"}, Annotations: map[string]string{"e": "f"},
		Linux: &LinuxContainer{CgroupsPath: "/kubepods/pod0/ctr0", Namespaces: []*LinuxNamespace{{Type: "pid"}}},
	}
	for kind, request := range map[lifecycle.Kind]proto.Message{
		lifecycle.StopPodSandbox:   &StopPodSandboxRequest{Pod: pod},
		lifecycle.RemovePodSandbox: &RemovePodSandboxRequest{Pod: pod},
		lifecycle.StopContainer:    &StopContainerRequest{Pod: pod, Container: ctr},
		lifecycle.RemoveContainer:  &RemoveContainerRequest{Pod: pod, Container: ctr},
	} {
		t.Run(kind.String(), func(t *testing.T) {
			ev := lifecycle.Event{Kind: kind, Pod: "pod0", Request: request}
			if kind == lifecycle.StopContainer || kind == lifecycle.RemoveContainer {
				ev.Container = "ctr0"
			}
			read := decodeEnd(ev, encodeEnd(ev))
			require.True(t, proto.Equal(request, read.(proto.Message)), "%v", read)
		})
	}
}

// Kept requests have no secrets, and nothing that a plugin does not need to free its resources.
func TestMissedRequestsHaveNothingElse(t *testing.T) {
	ev := lifecycle.Event{Kind: lifecycle.StopContainer, Pod: "pod0", Container: "ctr0", Request: &StopContainerRequest{
		Pod: &PodSandbox{Id: "pod0", Linux: &LinuxPodSandbox{PodResources: &LinuxResources{BlockioClass: String("secret")}}},
		Container: &Container{
			Id: "ctr0", Env: []string{"PASSWORD=secret"}, Args: []string{"--password=secret"},
			Mounts: []*Mount{{Source: "secret"}}, Hooks: &Hooks{Poststop: []*Hook{{Path: "secret"}}},
			Linux: &LinuxContainer{Sysctl: map[string]string{"secret": "secret"}}, StatusMessage: "secret",
		},
	}}
	require.NotContains(t, encodeEnd(ev), "secret")
}

// Labels and annotations are kept as far as they fit, and large ones do not displace others.
// Equal requests have equal bytes.
func TestMissedRequestsAreBounded(t *testing.T) {
	annotations := map[string]string{"a-large-one": strings.Repeat("-", keptText-100)}
	for i := range 100 {
		annotations[fmt.Sprint("annotation-", i)] = strings.Repeat("-", 100)
	}
	ev := lifecycle.Event{Kind: lifecycle.StopPodSandbox, Pod: "pod0", Request: &StopPodSandboxRequest{
		Pod: &PodSandbox{Id: "pod0", Labels: map[string]string{"app": "web"}, Annotations: annotations},
	}}
	bytes := encodeEnd(ev)
	for range 10 {
		require.Equal(t, bytes, encodeEnd(ev))
	}
	pod := decodeEnd(ev, bytes).(*StopPodSandboxRequest).GetPod()
	require.Equal(t, "web", pod.GetLabels()["app"])
	require.NotContains(t, pod.GetAnnotations(), "a-large-one")
	require.Contains(t, pod.GetAnnotations(), "annotation-0")
	require.InDelta(t, keptText/114, len(pod.GetAnnotations()), 2)
	require.Less(t, len(bytes), 2*keptText)
}

// A request that cannot be encoded or decoded as a whole has ids alone.
func TestMissedRequestsHaveIds(t *testing.T) {
	for name, ev := range map[string]lifecycle.Event{
		"without a request": {Kind: lifecycle.StopContainer, Pod: "pod0", Container: "ctr0"},
		"too large":         {Kind: lifecycle.StopContainer, Pod: "pod0", Container: "ctr0", Request: &StopContainerRequest{Pod: &PodSandbox{Id: "pod0", Name: strings.Repeat("-", keptBytes)}}},
		"not to be sent":    {Kind: lifecycle.StopContainer, Pod: "pod0", Container: "ctr0", Request: &StopContainerRequest{Pod: &PodSandbox{Id: "pod0", Name: "\xff"}}},
	} {
		t.Run(name, func(t *testing.T) {
			bytes := encodeEnd(ev)
			require.Less(t, len(bytes), 100)
			read := decodeEnd(ev, bytes)
			require.Equal(t, "pod0", read.(*StopContainerRequest).GetPod().GetId())
			require.Equal(t, "ctr0", read.(*StopContainerRequest).GetContainer().GetId())
		})
	}
	for _, bytes := range []string{"", "\xff\xff not a message"} {
		read := decodeEnd(lifecycle.Event{Kind: lifecycle.RemovePodSandbox, Pod: "pod0"}, bytes)
		require.Equal(t, "pod0", read.(*RemovePodSandboxRequest).GetPod().GetId())
	}
	require.Nil(t, decodeEnd(lifecycle.Event{Kind: lifecycle.RunPodSandbox, Pod: "pod0"}, ""))
}
