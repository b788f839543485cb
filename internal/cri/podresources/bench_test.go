// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/wrapperspb"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
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

// BenchmarkDecode is what RunPodSandbox pays to read a large pod.
func BenchmarkDecode(b *testing.B) {
	for source, tell := range map[Source]func(*runtime.PodSandboxConfig) error{
		Field: func(pod *runtime.PodSandboxConfig) error { return Set(pod, large()) },
		FromPod: func(pod *runtime.PodSandboxConfig) (err error) {
			pod.Annotations = map[string]string{}
			pod.Annotations[Annotation], err = ToAnnotation(large())
			return err
		},
	} {
		b.Run(string(source), func(b *testing.B) {
			pod := &runtime.PodSandboxConfig{}
			require.NoError(b, tell(pod))
			b.ReportAllocs()
			for b.Loop() {
				if _, from, err := Announced(pod); from != source || err != nil {
					b.Fatal(from, err)
				}
			}
		})
	}
}

// BenchmarkAttach is what each event of that pod pays.
func BenchmarkAttach(b *testing.B) {
	told, pod := large(), &runtime.PodSandboxConfig{} // any message will do
	b.ReportAllocs()
	for b.Loop() {
		Attach(pod, told)
	}
}
