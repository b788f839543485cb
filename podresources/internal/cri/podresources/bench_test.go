// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/podresources/internal/nri/provisional"
)

// large is a pod of 20 containers, each with requests, limits, two mounts, a
// device and a CDI device.
func large() *PodResourceConfig {
	quantities := func(cpu, memory string) map[string]*wrapperspb.StringValue {
		return map[string]*wrapperspb.StringValue{"cpu": wrapperspb.String(cpu), "memory": wrapperspb.String(memory)}
	}
	pod := &PodResourceConfig{}
	for i := range 20 {
		container := web()
		container.Name = fmt.Sprintf("container-%d", i)
		container.KubernetesResources = &KubernetesResources{Requests: quantities("250m", "128Mi"), Limits: quantities("1", "1Gi")}
		container.Mounts = append(container.Mounts, &runtime.Mount{ContainerPath: "/etc/web", HostPath: "/srv/web"})
		pod.Containers = append(pod.Containers, container)
	}
	return pod
}

// BenchmarkTake measures the cost for RunPodSandbox to read a large pod.
func BenchmarkTake(b *testing.B) {
	text, err := ToAnnotation(large())
	require.NoError(b, err)
	received, err := NewAnnouncement(large(), Field)
	require.NoError(b, err)
	for source, tell := range map[Source]func(*runtime.PodSandboxConfig){
		Field:   func(pod *runtime.PodSandboxConfig) { provisional.Set(pod, FieldOfPod, received.Wire()) },
		FromPod: func(pod *runtime.PodSandboxConfig) { pod.Annotations = map[string]string{Annotation: text} },
	} {
		b.Run(string(source), func(b *testing.B) {
			pod := &runtime.PodSandboxConfig{}
			b.ReportAllocs()
			for b.Loop() {
				tell(pod)
				if _, from, err := Take(pod, true); from != source || err != nil {
					b.Fatal(from, err)
				}
			}
		})
	}
}

// BenchmarkAttach measures the cost for each event of that pod.
func BenchmarkAttach(b *testing.B) {
	received, err := NewAnnouncement(large(), Field)
	require.NoError(b, err)
	pod := &runtime.PodSandboxConfig{} // any message will do
	b.ReportAllocs()
	for b.Loop() {
		provisional.Set(pod, provisional.Resources, received.Wire())
	}
}
