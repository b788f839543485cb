// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// kib is a text of so many KiB.
func kib(n int) string { return strings.Repeat("x", n<<10) }

// fromConfigMaps gives a container an environment of so many KiB, in variables
// that Linux takes, as it comes of a ConfigMap or two in its envFrom.
func fromConfigMaps(container *runtime.ContainerConfig, n int) *runtime.ContainerConfig {
	const each = 100
	for i := range n / each {
		container.Envs = append(container.Envs, &runtime.KeyValue{Key: fmt.Sprint("LARGE", i), Value: []byte(kib(each))})
	}
	return container
}
