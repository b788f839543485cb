// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"maps"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

const (
	// keptText is how many bytes of labels and annotations are kept of a pod, and of a
	// container. Most have less than a kilobyte.
	keptText = 8 << 10
	// keptBytes is how large a kept request may be.
	keptBytes = 64 << 10
)

// encodeEnd encodes the request of an end to be kept. Equal requests have equal bytes. A
// request that is still too large, or that cannot be encoded, is kept with ids alone.
func encodeEnd(ev lifecycle.Event) string {
	pod, ctr := subject(ev)
	same := proto.MarshalOptions{Deterministic: true}
	if bytes, err := same.Marshal(endRequest(ev, keptPod(pod), keptContainer(ctr))); err == nil && len(bytes) <= keptBytes {
		return string(bytes)
	}
	bytes, err := same.Marshal(endRequest(ev, &PodSandbox{Id: ev.Pod}, nil))
	if err != nil {
		return "" // decodeEnd makes the request from the ids
	}
	return string(bytes)
}

// keptPod has what a plugin needs to free its resources for a pod: names and ids, and the
// paths of namespaces and cgroups. It stays on disk when the pod no longer exists.
func keptPod(pod *PodSandbox) *PodSandbox {
	kept := &PodSandbox{
		Id: pod.GetId(), Name: pod.GetName(), Uid: pod.GetUid(), Namespace: pod.GetNamespace(),
		RuntimeHandler: pod.GetRuntimeHandler(), Ips: pod.GetIps(),
	}
	kept.Labels, kept.Annotations = keptTexts(pod.GetLabels(), pod.GetAnnotations())
	if linux := pod.GetLinux(); linux != nil {
		kept.Linux = &LinuxPodSandbox{
			CgroupParent: linux.GetCgroupParent(), CgroupsPath: linux.GetCgroupsPath(), Namespaces: linux.GetNamespaces(),
		}
	}
	return kept
}

// keptContainer is the same for a container, without its arguments and environment.
func keptContainer(ctr *Container) *Container {
	kept := &Container{
		Id: ctr.GetId(), PodSandboxId: ctr.GetPodSandboxId(), Name: ctr.GetName(), State: ctr.GetState(),
		CreatedAt: ctr.GetCreatedAt(), StartedAt: ctr.GetStartedAt(), FinishedAt: ctr.GetFinishedAt(), ExitCode: ctr.GetExitCode(),
	}
	kept.Labels, kept.Annotations = keptTexts(ctr.GetLabels(), ctr.GetAnnotations())
	if linux := ctr.GetLinux(); linux != nil {
		kept.Linux = &LinuxContainer{CgroupsPath: linux.GetCgroupsPath(), Namespaces: linux.GetNamespaces()}
	}
	return kept
}

// keptTexts are the labels and annotations that fit, the shortest first: a large one displaces
// no other.
func keptTexts(labels, annotations map[string]string) (keptLabels, keptAnnotations map[string]string) {
	room := keptText
	keep := func(texts map[string]string) map[string]string {
		size := func(key string) int { return len(key) + len(texts[key]) }
		kept := make(map[string]string)
		for _, k := range slices.SortedFunc(maps.Keys(texts), func(a, b string) int {
			return cmp.Or(cmp.Compare(size(a), size(b)), cmp.Compare(a, b))
		}) {
			if size(k) > room {
				break
			}
			kept[k], room = texts[k], room-size(k)
		}
		return kept
	}
	return keep(labels), keep(annotations)
}

// decodeEnd decodes a kept request. If it cannot, as after a change of version, the request has
// ids alone.
func decodeEnd(ev lifecycle.Event, bytes string) any {
	request, ok := endRequest(ev, nil, nil).(interface {
		proto.Message
		GetPod() *PodSandbox
	})
	if !ok {
		return nil
	}
	if proto.Unmarshal([]byte(bytes), request) != nil || request.GetPod().GetId() != ev.Pod {
		return endRequest(ev, &PodSandbox{Id: ev.Pod}, nil)
	}
	return request
}
