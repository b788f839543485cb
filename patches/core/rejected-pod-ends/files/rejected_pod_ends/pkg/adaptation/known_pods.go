// SPDX-License-Identifier: Apache-2.0

package adaptation

// knownPods are the ids of the pods that a plugin has received, in Synchronize or by an
// event, and whose removal it has not answered. Once the plugin is in the list of the
// Adaptation, the lock of the Adaptation guards them.
type knownPods map[string]struct{}

// learn adds pods that the plugin is about to receive, whatever it answers.
func (k *knownPods) learn(pods ...*PodSandbox) {
	if *k == nil {
		*k = knownPods{}
	}
	for _, pod := range pods {
		(*k)[pod.GetId()] = struct{}{}
	}
}

// has reports whether the plugin knows a pod.
func (k knownPods) has(pod *PodSandbox) bool {
	_, known := k[pod.GetId()]
	return known
}

// forget drops a pod whose removal the plugin has answered.
func (k knownPods) forget(pod *PodSandbox) {
	delete(k, pod.GetId())
}
