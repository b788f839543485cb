// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"time"

	"github.com/containerd/errdefs"
	"github.com/containerd/log"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	containerstore "github.com/containerd/containerd/v2/internal/cri/store/container"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
)

// startPatience is how long the stop of a sandbox waits for containers that are being started.
// A container that takes longer is ended when its start returns.
const startPatience = 10 * time.Second

// closeEntry accepts no more containers in a sandbox, and returns when all accepted containers
// can be listed.
func closeEntry(ctx context.Context, sb *sandboxstore.Sandbox) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := sb.Entry.Close(ctx); err != nil {
		log.G(ctx).WithError(err).Warnf("stopping sandbox %q while a container in it is being started", sb.ID)
	}
}

// entrant is a container that is being stored or started in a sandbox.
type entrant struct {
	sandbox *sandboxstore.Sandbox
	inside  bool
}

// rejected returns an error if the sandbox is stopped or being stopped.
func (e *entrant) rejected() error {
	if e.sandbox.Entry.Closed() {
		return fmt.Errorf("sandbox %q is being stopped: %w", e.sandbox.ID, errdefs.ErrFailedPrecondition)
	}
	return rejectStopped(e.sandbox)
}

// enter accepts the container, unless the sandbox is stopped or being stopped. A stop waits
// until it leaves.
func (e *entrant) enter() error {
	e.inside = e.sandbox.Entry.Enter()
	if !e.inside {
		return fmt.Errorf("sandbox %q is being stopped: %w", e.sandbox.ID, errdefs.ErrFailedPrecondition)
	}
	return e.rejected()
}

// leave undoes enter. It may be called before enter, and after an enter that failed.
func (e *entrant) leave() {
	if e.inside {
		e.inside = false
		e.sandbox.Entry.Leave()
	}
}

// notifyStopped sends plugins the stop of a container, unless the container has not run yet. It
// can still be started then, and plugins would reject the start of a stopped container.
func (c *criService) notifyStopped(ctx context.Context, sandbox *sandboxstore.Sandbox, container *containerstore.Container) error {
	if container.Status.Get().State() == runtime.ContainerState_CONTAINER_CREATED {
		return nil
	}
	return c.nri.StopContainer(ctx, sandbox, container)
}
