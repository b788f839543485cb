// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

type (
	askedContainer struct{}
	askedPod       struct{}
)

// WithContainerResources has plugins told, with the container of the request
// that is under way, what it asks for: it is not kept before they agreed. It goes
// with the context, as a container that is created comes here through the options
// of containerd's client.
func WithContainerResources(ctx context.Context, asked *podresources.KubernetesResources) context.Context {
	if asked == nil {
		return ctx
	}
	return context.WithValue(ctx, askedContainer{}, asked)
}

// ContainerResources returns what the container of the request asks for, and
// nil if that is not said.
func ContainerResources(ctx context.Context) *podresources.KubernetesResources {
	asked, _ := ctx.Value(askedContainer{}).(*podresources.KubernetesResources)
	return asked
}

// WithPodResources is the same for the pod of a request.
func WithPodResources(ctx context.Context, asked *podresources.Announcement) context.Context {
	if asked == nil {
		return ctx
	}
	return context.WithValue(ctx, askedPod{}, asked)
}

// PodResources returns what the containers of the pod of the request ask for,
// and nil if that is not said.
func PodResources(ctx context.Context) *podresources.Announcement {
	asked, _ := ctx.Value(askedPod{}).(*podresources.Announcement)
	return asked
}
