// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/containerd/go-cni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	core "github.com/containerd/containerd/v2/core/sandbox"
	criconfig "github.com/containerd/containerd/v2/internal/cri/config"
	"github.com/containerd/containerd/v2/internal/cri/server/podsandbox"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/plugins"
)

func TestRuntimesThatDoNotLookAtTheNetwork(t *testing.T) {
	runc := criconfig.Runtime{Type: plugins.RuntimeRuncV2, Sandboxer: string(criconfig.ModePodSandbox)}
	with := func(change func(*criconfig.Runtime)) criconfig.Runtime {
		r := runc
		change(&r)
		return r
	}
	options := func(name string, value any) func(*criconfig.Runtime) {
		return func(r *criconfig.Runtime) { r.Options = map[string]any{name: value} }
	}
	sysctl := func(name string) *runtime.PodSandboxConfig {
		return &runtime.PodSandboxConfig{Linux: &runtime.LinuxPodSandboxConfig{Sysctls: map[string]string{name: "1"}}}
	}
	for name, test := range map[string]struct {
		runtime criconfig.Runtime
		config  *runtime.PodSandboxConfig
		beside  bool
	}{
		"runc":                      {runtime: runc, beside: true},
		"runc at a path":            {runtime: with(options("BinaryName", "/opt/bin/runc")), beside: true},
		"runc with other options":   {runtime: with(options("SystemdCgroup", true)), beside: true},
		"another program":           {runtime: with(options("BinaryName", "krun"))},
		"its name in small letters": {runtime: with(options("binaryname", "krun"))},
		"another shim":              {runtime: with(func(r *criconfig.Runtime) { r.Type = "io.containerd.kata.v2" })},
		"a shim at a path":          {runtime: with(func(r *criconfig.Runtime) { r.Path = "/opt/bin/shim" })},
		"no process":                {runtime: with(func(r *criconfig.Runtime) { r.Sandboxer, r.Path = string(criconfig.ModeShim), "/opt/bin/shim" }), config: sysctl("net.ipv4.ip_forward"), beside: true},
		"another sandbox API":       {runtime: with(func(r *criconfig.Runtime) { r.Sandboxer, r.Type = string(criconfig.ModeShim), "io.containerd.kata.v2" })},
		"sysctl":                    {runtime: runc, config: sysctl("kernel.shm_rmid_forced"), beside: true},
		"sysctl of the network":     {runtime: runc, config: sysctl("net.ipv4.ip_forward")},
		"the same with a stroke":    {runtime: runc, config: sysctl("net/ipv4/ip_forward")},
	} {
		t.Run(name, func(t *testing.T) {
			shims, err := criconfig.GenerateRuntimeOptions(test.runtime)
			require.NoError(t, err)
			assert.Equal(t, test.beside, besideNetwork(test.runtime, shims, test.config))
		})
	}
}

// heldADD is a network whose ADD waits, and then returns an address or fails.
type heldADD struct {
	cni.CNI
	begun   chan struct{}
	proceed chan struct{}
	err     error
}

func (h *heldADD) Setup(ctx context.Context, _, _ string, _ ...cni.NamespaceOpts) (*cni.Result, error) {
	close(h.begun)
	select {
	case <-h.proceed:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if h.err != nil {
		return nil, h.err
	}
	return &cni.Result{Interfaces: map[string]*cni.Config{defaultIfName: {IPConfigs: []*cni.IPConfig{{IP: net.ParseIP("10.1.2.3")}}}}}, nil
}

// updates are the calls of the sandbox's controller.
type updates struct {
	sandboxService
	infos  []core.Sandbox
	fields []string
}

func (u *updates) UpdateSandbox(_ context.Context, _, _ string, info core.Sandbox, fields ...string) error {
	u.infos = append(u.infos, info)
	u.fields = append(u.fields, fields...)
	return nil
}

type attaching struct {
	*attachment
	add        *heldADD
	controller *updates
	records    *recordStore
	sandbox    sandboxstore.Sandbox
	creation   *sandboxstore.Creation
	leave      func() // as the caller does
}

func attach(t *testing.T, beside bool, fails error) *attaching {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	c := newTestCRIService()
	a := &attaching{
		add:        &heldADD{begun: make(chan struct{}), proceed: make(chan struct{}), err: fails},
		controller: &updates{},
		sandbox: sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod", Config: &runtime.PodSandboxConfig{
			Metadata: &runtime.PodSandboxMetadata{Name: "web"},
		}}, sandboxstore.Status{}),
	}
	a.records = withRecord(t, c, "pod")
	c.netPlugin = map[string]cni.CNI{defaultNetworkPlugin: a.add}
	c.sandboxService = a.controller
	a.creation = c.creations.Begin(a.sandbox)
	t.Cleanup(a.creation.End)
	a.leave = leave
	require.True(t, c.networkPace.enter(1))
	a.attachment = c.beginAttachment(ctx, a.sandbox, core.Sandbox{ID: "pod"}, beside)
	t.Cleanup(func() {
		leave()
		a.end(&a.sandbox)
	})
	<-a.add.begun
	return a
}

// requireNothingLeftToDo fails unless a sandbox, and its record, have their addresses. A pause container
// that is created now has them, and a sandbox without a process has no container to add them to.
func (a *attaching) requireNothingLeftToDo(t *testing.T, info core.Sandbox) {
	t.Helper()
	assert.Equal(t, "10.1.2.3", a.sandbox.IP)
	var recorded sandboxstore.Metadata
	require.NoError(t, info.GetExtension(podsandbox.MetadataKey, &recorded))
	assert.Equal(t, "10.1.2.3", recorded.IP)
	assert.Equal(t, t.Context(), a.before(t.Context(), &a.sandbox, a.creation))
	again, err := a.record(t.Context(), info)
	require.NoError(t, err)
	assert.Equal(t, info, again)
	assert.Empty(t, a.controller.fields)
}

// The pause container is created before the ADD has ended, and started after that.
func TestSandboxIsStartedWhenItIsAttached(t *testing.T) {
	a := attach(t, true, nil)
	ctx := a.before(t.Context(), &a.sandbox, a.creation)
	require.NoError(t, ctx.Err())
	started := make(chan error, 1)
	go func() { started <- podsandbox.BeforeStart(ctx, "", nil) }()
	select {
	case <-started:
		require.Fail(t, "the ADD has not ended")
	default:
	}
	close(a.add.proceed)
	require.NoError(t, <-started)
	assert.Equal(t, "10.1.2.3", a.sandbox.IP)
	assert.NotNil(t, a.sandbox.CNIResult)

	info, err := a.record(t.Context(), core.Sandbox{ID: "pod"})
	require.NoError(t, err)
	var recorded, updated sandboxstore.Metadata
	require.NoError(t, info.GetExtension(podsandbox.MetadataKey, &recorded))
	assert.Equal(t, "10.1.2.3", recorded.IP)
	assert.Equal(t, []string{"extensions"}, a.records.written)
	assert.Equal(t, []string{podsandbox.NetworkKey}, a.controller.fields)
	require.NoError(t, a.controller.infos[0].GetExtension(podsandbox.MetadataKey, &updated))
	assert.Equal(t, "10.1.2.3", updated.IP)
	assert.NoError(t, ctx.Err(), "the creation goes on")
}

func TestAttachedSandboxIsCreatedWithItsAddresses(t *testing.T) {
	a := attach(t, false, nil)
	close(a.add.proceed)
	info, err := a.finish(t.Context(), &a.sandbox, a.creation)
	require.NoError(t, err)
	a.requireNothingLeftToDo(t, info)
}

// A sandbox without a process is created before the ADD has ended, and started after that.
func TestSandboxWithoutProcessIsStartedWhenItIsAttached(t *testing.T) {
	a := attach(t, true, nil)
	a.sandbox.Sandboxer = string(criconfig.ModePodSandbox)
	begun := core.Sandbox{ID: "pod"}
	info, err := a.created(t.Context(), begun, &a.sandbox, a.creation)
	require.NoError(t, err)
	assert.Equal(t, begun, info, "a pause container is awaited later")

	a.sandbox.Sandboxer = string(criconfig.ModeShim)
	created := make(chan error, 1)
	go func() {
		info, err = a.created(t.Context(), begun, &a.sandbox, a.creation)
		created <- err
	}()
	select {
	case <-created:
		require.Fail(t, "the ADD has not ended")
	default:
	}
	close(a.add.proceed)
	require.NoError(t, <-created)
	a.requireNothingLeftToDo(t, info)

	a = attach(t, true, errors.New("agent is down"))
	a.sandbox.Sandboxer = string(criconfig.ModeShim)
	close(a.add.proceed)
	_, err = a.created(t.Context(), begun, &a.sandbox, a.creation)
	assert.ErrorContains(t, err, "agent is down")
}

func TestFailedADDEndsTheStart(t *testing.T) {
	a := attach(t, true, errors.New("agent is down"))
	ctx := a.before(t.Context(), &a.sandbox, a.creation)
	lost := errors.New("signal: killed")
	assert.Equal(t, lost, a.explain(lost), "the ADD has not ended")
	close(a.add.proceed)
	<-ctx.Done()
	for _, err := range []error{a.explain(lost), podsandbox.BeforeStart(ctx, "", nil)} {
		assert.ErrorContains(t, err, `failed to setup network for sandbox "pod": agent is down`)
	}
	_, err := a.finish(t.Context(), &a.sandbox, a.creation)
	assert.ErrorContains(t, err, "agent is down")
}

func TestRecordThatCannotBeWrittenFailsTheCreation(t *testing.T) {
	a := attach(t, false, nil)
	a.records.full = errors.New("no space left")
	close(a.add.proceed)
	require.NoError(t, a.join(&a.sandbox, a.creation))
	_, err := a.record(t.Context(), core.Sandbox{ID: "pod"})
	assert.ErrorContains(t, err, "no space left")
}

// The roll-back needs the result of the ADD, and its plugins need their own records.
func TestEndWaitsForTheADD(t *testing.T) {
	a := attach(t, true, nil)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.end(&a.sandbox)
	}()
	close(a.add.proceed)
	<-ended
	assert.NoError(t, a.err, "the ADD was not canceled")
	assert.NotNil(t, a.sandbox.CNIResult)
}

func TestCanceledCallEndsTheADD(t *testing.T) {
	a := attach(t, true, nil)
	a.leave()
	a.end(&a.sandbox)
	assert.ErrorIs(t, a.err, context.Canceled)
	assert.Nil(t, a.sandbox.CNIResult)
}

func TestADDThatHangsIsNotAwaitedForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := attach(t, true, nil)
		began := time.Now()
		a.end(&a.sandbox)
		assert.Equal(t, lastADD, time.Since(began))
		assert.ErrorIs(t, a.err, context.Canceled)
	})
}

func TestSandboxOnTheNetworkOfItsHost(t *testing.T) {
	var a *attachment
	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{})
	assert.Equal(t, t.Context(), a.before(t.Context(), &sandbox, nil))
	info, err := a.record(t.Context(), core.Sandbox{ID: "pod"})
	require.NoError(t, err)
	assert.Equal(t, "pod", info.ID)
	lost := errors.New("signal: killed")
	assert.Equal(t, lost, a.explain(lost))
	a.end(&sandbox)
}
