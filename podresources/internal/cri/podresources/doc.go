// SPDX-License-Identifier: Apache-2.0

// Package podresources reads the resources of a pod's containers, which a runtime
// gets with the pod, before any container exists: Kubernetes' KEP-4112.
//
// CRI has no fields for them yet. They are read from the unknown fields of a request, which gRPC
// keeps, under the numbers of the KEP, or from an annotation of the pod. They travel to NRI plugins
// in provisional fields of NRI's messages, see package provisional. Each container is compared with
// its announcement.
//
// Nothing in here fails a pod. Resources that cannot be read are an error that names the container
// and the fault; the caller logs it and goes on without them.
//
// The package is meant for a runtime, and imports only CRI, Kubernetes' quantities,
// protobuf and package provisional. A program can have only one copy of it, as
// protobuf registers its messages by name.
package podresources
