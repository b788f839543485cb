// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"strings"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// A kubelet adds mounts to a container by itself: those of the service account, of the hosts file
// and of the termination log. They need not be announced. They are recognized by their path on the
// host, in the kubelet's directory of the pod.
type kubelet struct{ pod, container string }

// adds reports whether a mount is that of the service account or of the hosts file. They need not
// be announced. If they are, they are compared.
func (k kubelet) adds(m *runtime.Mount) bool {
	within, ok := k.within(m)
	if !ok {
		return false
	}
	const account = "/var/run/secrets/kubernetes.io/serviceaccount"
	return within == "etc-hosts" || strings.HasPrefix(within, "volumes/") && strings.HasSuffix(slashes(m.GetContainerPath()), account)
}

// isTerminationLog reports whether a mount is that of the termination log. Its path in the container
// is the user's choice. On the host it has a new name at each start, so it is never compared.
func (k kubelet) isTerminationLog(m *runtime.Mount) bool {
	within, ok := k.within(m)
	name, is := strings.CutPrefix(within, "containers/"+k.container+"/")
	return ok && is && name != "" && strings.Trim(name, "0123456789abcdef") == ""
}

// within returns the path on the host, relative to the kubelet's directory of the pod.
func (k kubelet) within(m *runtime.Mount) (path string, ok bool) {
	if k.pod == "" {
		return "", false
	}
	_, path, ok = strings.Cut(slashes(m.GetHostPath()), "/pods/"+k.pod+"/")
	return path, ok && !strings.Contains("/"+path+"/", "/../")
}

// slashes returns a path of any system in the form of Unix.
func slashes(path string) string { return strings.ReplaceAll(path, `\`, "/") }
