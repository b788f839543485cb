// SPDX-License-Identifier: Apache-2.0

// Package podresources is about what the containers of a pod ask for, told when
// the pod is created, before the first of them exists (Kubernetes' KEP-4112).
//
//   - A plugin of NRI reads it with FromPod and FromContainer, a sandboxer with
//     FromConfig.
//   - A client of CRI says it with SetPod and SetContainer, and anew with
//     SetPodUpdate and SetContainerUpdate.
//   - An admission webhook says it with Annotation.
//
// It travels in provisional fields of CRI's and NRI's messages. A runtime that does
// not know them passes them over, and there is nothing to read then.
package podresources
