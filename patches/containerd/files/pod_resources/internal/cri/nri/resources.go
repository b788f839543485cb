// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	"github.com/containerd/containerd/v2/internal/cri/podresources"
)

// WithContainerResources has plugins told, with the container of the request
// that is under way, what it asks for: it is not kept before they agreed. It goes
// with the context, as a container that is created comes here through the options
// of containerd's client.
func WithContainerResources(ctx context.Context, asked *podresources.KubernetesResources) context.Context {
	return withAsked(ctx, asked)
}

// ContainerResources returns what the container of the request asks for, and
// nil if that is not said.
func ContainerResources(ctx context.Context) *podresources.KubernetesResources {
	return askedBy[podresources.KubernetesResources](ctx)
}

// WithPodResources is the same for the pod of a request.
func WithPodResources(ctx context.Context, asked *podresources.Announcement) context.Context {
	return withAsked(ctx, asked)
}

// PodResources returns what the containers of the pod of the request ask for,
// and nil if that is not said.
func PodResources(ctx context.Context) *podresources.Announcement {
	return askedBy[podresources.Announcement](ctx)
}

// askedKey is where a context has what is asked for.
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
