// SPDX-License-Identifier: Apache-2.0

// Package podresources reads and writes the resources that the containers of a pod request. They
// are announced when the pod is created, before its first container exists (Kubernetes' KEP-4112).
//
//   - A plugin of NRI reads them with FromPod and FromContainer, a sandboxer with FromConfig.
//   - A client of CRI announces them with SetPod and SetContainer, and changes them with
//     SetPodUpdate and SetContainerUpdate.
//   - An admission webhook announces them with Annotation.
//
// They travel in provisional fields of CRI's and NRI's messages. A runtime that does not know
// these fields ignores them, and nothing can be read.
package podresources
