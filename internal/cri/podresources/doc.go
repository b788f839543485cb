// SPDX-License-Identifier: Apache-2.0

// Package podresources is about what the containers of a pod ask for, told to a
// runtime with the pod, before any of them exists: Kubernetes' KEP-4112.
//
// CRI has no fields for it yet. They are read from the fields of a request that
// CRI does not know, which gRPC keeps, under the numbers of the KEP, or else from
// an annotation of the pod; they travel to NRI plugins in provisional fields of
// NRI's messages, see package provisional; and a container is compared with what
// was told of it.
//
// Nothing in here fails a pod. What cannot be read is an error that says what is
// wrong with which container, for the caller to log and to go on without.
//
// The package is bound for a runtime, and stands on CRI, Kubernetes' quantities,
// protobuf and package provisional alone. No two copies of it can be in one program, as protobuf
// knows its messages by their names.
package podresources
