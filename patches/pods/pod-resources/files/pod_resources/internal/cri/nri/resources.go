// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

// WithContainerResources adds the resources of the container in the current request to the
// context. Plugins receive them with the request, because they are stored only after plugins
// have approved it. They are in the context because a new container gets here through the
// options of containerd's client.
func WithContainerResources(ctx context.Context, asked *podresources.KubernetesResources) context.Context {
	return withAsked(ctx, asked)
}

// ContainerResources returns the resources of the container in the current request,
// nil if it has none.
func ContainerResources(ctx context.Context) *podresources.KubernetesResources {
	return askedBy[podresources.KubernetesResources](ctx)
}

// WithPodResources does the same for the pod of a request.
func WithPodResources(ctx context.Context, asked *podresources.Announcement) context.Context {
	return withAsked(ctx, asked)
}

// PodResources returns the resources of the containers of the pod in the current
// request, nil if it has none.
func PodResources(ctx context.Context) *podresources.Announcement {
	return askedBy[podresources.Announcement](ctx)
}

// askedKey is the key of resources in a context.
type askedKey[T any] struct{}

func withAsked[T any](ctx context.Context, asked *T) context.Context {
	if asked == nil {
		return ctx
	}
	return context.WithValue(ctx, askedKey[T]{}, asked)
}

func askedBy[T any](ctx context.Context) *T {
	asked, _ := ctx.Value(askedKey[T]{}).(*T)
	return asked
}
