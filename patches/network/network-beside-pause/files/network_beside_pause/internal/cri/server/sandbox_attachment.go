// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	runcoptions "github.com/containerd/containerd/api/types/runc/options"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/plugins"
)

// attachment is the CNI ADD of a sandbox, and its record. A nil attachment is that of a pod that CNI gives
// no network, as one on the network of its host: its methods do nothing.
type attachment struct {
	service *criService
	cancel  context.CancelFunc
	start   context.Context // ends when the ADD fails
	abandon context.CancelFunc

	attached chan struct{} // closed when the ADD has ended; then sandbox and err are set
	sandbox  sandboxstore.Sandbox
	err      error

	recorded  chan struct{} // closed when the result is recorded; then info and recordErr are set
	info      core.Sandbox
	recordErr error

	beside bool // the sandbox is created meanwhile
	joined bool // the sandbox of RunPodSandbox has the result of the ADD
}

// lastADD bounds how long a creation that has failed waits for an ADD that still runs.
const lastADD = 2 * time.Minute

// besideNetwork reports whether a sandbox can be created while it is attached to its network.
// It can with runc, which uses the network namespace only to enter it and to set sysctls, and
// without a process: such a sandbox uses its network when it is started.
// options are the options of the runtime as its shim receives them, or nil.
func besideNetwork(ociRuntime criconfig.Runtime, options any, config *runtime.PodSandboxConfig) bool {
	if ociRuntime.WithoutProcess() {
		return true
	}
	if ociRuntime.Type != plugins.RuntimeRuncV2 || ociRuntime.Path != "" || ociRuntime.Sandboxer != string(criconfig.ModePodSandbox) {
		return false
	}
	if options != nil {
		runc, ok := options.(*runcoptions.Options)
		if !ok || runc.GetBinaryName() != "" && filepath.Base(runc.GetBinaryName()) != "runc" {
			return false
		}
	}
	for name := range config.GetLinux().GetSysctls() {
		if strings.HasPrefix(strings.ReplaceAll(name, "/", "."), "net.") {
			return false
		}
	}
	return podsandbox.CanSetNetworkSysctls() // after the ADD
}

// beginAttachment runs the ADD of a sandbox and records its result, both in the background. The
// sandbox must have a network namespace. end waits for both. beside is whether it is created
// meanwhile; then the caller has entered the pace.
func (c *criService) beginAttachment(ctx context.Context, sandbox sandboxstore.Sandbox, info core.Sandbox, beside bool) *attachment {
	start, abandon := context.WithCancel(ctx)
	ctx, cancel := context.WithCancel(ctx)
	a := &attachment{
		service:  c,
		beside:   beside,
		cancel:   cancel,
		start:    start,
		abandon:  abandon,
		attached: make(chan struct{}),
		sandbox:  sandbox,
		recorded: make(chan struct{}),
		info:     info,
	}
	a.info.Extensions = maps.Clone(info.Extensions) // the caller's are read meanwhile
	go a.run(ctx)
	return a
}

func (a *attachment) run(ctx context.Context) {
	defer close(a.recorded)
	start := time.Now()
	err := a.service.setupPodNetwork(ctx, &a.sandbox)
	a.service.networkPace.ended(ctx, err)
	if a.beside {
		a.service.networkPace.leave()
	}
	if err != nil {
		a.err = fmt.Errorf("failed to setup network for sandbox %q: %w", a.sandbox.ID, err)
	}
	close(a.attached)
	if a.err != nil {
		a.abandon()
		return
	}
	sandboxCreateNetworkTimer.UpdateSince(start)
	a.info, a.recordErr = a.service.recordSandbox(ctx, a.info, &a.sandbox)
}

// comesFirst reports whether the sandbox is created after the ADD.
func (a *attachment) comesFirst() bool { return a != nil && !a.beside }

// join waits for the ADD, and copies its result into sandbox.
func (a *attachment) join(sandbox *sandboxstore.Sandbox, creation *sandboxstore.Creation) error {
	<-a.attached
	a.take(sandbox)
	if a.err != nil {
		return a.err
	}
	creation.Update(*sandbox)
	return nil
}

// finish waits for the ADD and its record, before the sandbox is created or started with them.
func (a *attachment) finish(ctx context.Context, sandbox *sandboxstore.Sandbox, creation *sandboxstore.Creation) (core.Sandbox, error) {
	if err := a.join(sandbox, creation); err != nil {
		return core.Sandbox{}, err
	}
	return a.record(ctx, core.Sandbox{})
}

// created waits for the ADD and its record if they run beside the creation of a sandbox without a
// process. The start of such a sandbox is one step, and comes after both.
func (a *attachment) created(ctx context.Context, info core.Sandbox, sandbox *sandboxstore.Sandbox, creation *sandboxstore.Creation) (core.Sandbox, error) {
	if a == nil || !a.beside || sandbox.Sandboxer == string(criconfig.ModePodSandbox) {
		return info, nil
	}
	<-a.recorded
	a.beside = false
	return a.finish(ctx, sandbox, creation)
}

func (a *attachment) take(sandbox *sandboxstore.Sandbox) {
	sandbox.CopyNetwork(&a.sandbox.Metadata)
	a.joined = true
}

// before returns the context in which the pause container is created. The container is started
// only when the ADD has succeeded. If the ADD fails, the creation is canceled.
func (a *attachment) before(ctx context.Context, sandbox *sandboxstore.Sandbox, creation *sandboxstore.Creation) context.Context {
	if a == nil || !a.beside {
		return ctx
	}
	return podsandbox.WithBeforeStart(a.start, func() error { return a.join(sandbox, creation) })
}

// explain returns the error of the ADD if the ADD has failed, and err if not.
func (a *attachment) explain(err error) error {
	if a == nil {
		return err
	}
	select {
	case <-a.attached:
		if a.err != nil {
			return a.err
		}
	default:
	}
	return err
}

// record waits until the addresses of the sandbox are recorded, and adds them to the record of
// its pause container, which was created without them.
func (a *attachment) record(ctx context.Context, info core.Sandbox) (core.Sandbox, error) {
	if a == nil {
		return info, nil
	}
	<-a.recorded
	if a.recordErr != nil || !a.beside {
		return a.info, a.recordErr
	}
	err := a.service.sandboxService.UpdateSandbox(ctx, a.sandbox.Sandboxer, a.sandbox.ID, a.info, podsandbox.NetworkKey)
	if err != nil {
		return a.info, fmt.Errorf("unable to add the addresses of sandbox %q to its container: %w", a.sandbox.ID, err)
	}
	return a.info, nil
}

// end waits for the ADD and its record. After that the sandbox has all data that its DEL
// needs. An ADD is not canceled because the start beside it has failed: a plugin that is
// killed between an allocation and its record leaks the allocation for good. Only the caller's
// cancellation and lastADD end it early.
func (a *attachment) end(sandbox *sandboxstore.Sandbox) {
	if a == nil {
		return
	}
	expired := time.AfterFunc(lastADD, a.cancel)
	<-a.recorded
	expired.Stop()
	a.cancel()
	a.abandon()
	if !a.joined {
		a.take(sandbox)
	}
}
