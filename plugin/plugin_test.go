// SPDX-License-Identifier: Apache-2.0

package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/net/multiplex"
	"github.com/containerd/nri/pkg/stub"
	"github.com/containerd/ttrpc"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/plugin/plugintest"
)

// TestMain is also a plugin that a runtime starts, and the plugin of files.
func TestMain(m *testing.M) {
	if os.Getenv(api.PluginSocketEnvVar) != "" {
		p := plugin.Plugin{Index: "99", Name: "other", Handler: rejects{}}
		if err := p.Run(context.Background()); err == nil {
			os.Exit(1)
		}
		return
	}
	if folder := os.Getenv(filesFolder); folder != "" {
		if err := newFiles(folder).run(context.Background(), os.Getenv(filesSocket)); err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

type rejects struct{}

func (rejects) RunPodSandbox(context.Context, *api.PodSandbox) error { return errors.New("rejected") }

// A plugin is connected again when the runtime is back, and when its connection alone is lost.
func TestRunConnectsAgain(t *testing.T) {
	r := startRuntime(t)
	p := &plugin.Plugin{Index: "50", Name: "back", Socket: r.Socket(), Handler: rejects{}}
	end := run(t, p)
	require.NoError(t, r.Joined(soon(t), 1))
	_, err := p.UpdateContainers(nil)
	require.ErrorContains(t, err, "unsupported", "the runtime's own answer")
	r.Disconnect()
	require.NoError(t, r.Joined(soon(t), 2))
	r.Stop()
	_, err = p.UpdateContainers(nil)
	require.Error(t, err)
	require.NoError(t, r.Start())
	require.NoError(t, r.Joined(soon(t), 3))
	require.ErrorContains(t, r.NRI().RunPodSandbox(soon(t), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "a"}}), "rejected")
	require.NoError(t, end())
	_, err = p.UpdateContainers(nil)
	require.ErrorIs(t, err, plugin.ErrNotConnected)
}

// A plugin may start before the runtime. It does not try all the time, nor does it end late.
func TestRunStartsBeforeTheRuntime(t *testing.T) {
	r := plugintest.NewRuntime(short(t))
	log := &lines{}
	p := &plugin.Plugin{Index: "50", Name: "early", Socket: r.Socket(), Handler: rejects{}}
	end := runLogged(t, p, log)
	require.Eventually(t, func() bool { return log.count("is not connected") == 3 }, 20*time.Second, time.Millisecond)
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	require.NoError(t, r.Joined(soon(t), 1))
	require.Less(t, log.count("is not connected"), 10)
	require.NoError(t, end())
	require.Equal(t, 1, log.count("is connected"))

	end = runLogged(t, &plugin.Plugin{Index: "50", Name: "alone", Socket: filepath.Join(short(t), "none"), Handler: rejects{}}, log)
	before := log.count("is not connected")
	require.Eventually(t, func() bool { return log.count("is not connected") >= before+5 }, 20*time.Second, time.Millisecond)
	require.NoError(t, end())
}

// A plugin is connected once it is synchronized, whatever the size of the list, and not if that fails.
func TestRunIsConnectedOnceSynchronized(t *testing.T) {
	r := startRuntime(t)
	var pods []*api.PodSandbox
	var containers []*api.Container
	for range 20 { // NRI sends this in parts
		pods = append(pods, &api.PodSandbox{Id: "a", Annotations: map[string]string{"large": strings.Repeat("x", 1<<19)}})
		containers = append(containers, &api.Container{Id: "c", Env: []string{strings.Repeat("x", 1<<18)}})
	}
	r.List(pods, containers)
	log, h := &lines{}, &synchronizes{fail: make(chan error, 1)}
	h.fail <- errors.New("not yet")
	end := runLogged(t, &plugin.Plugin{Index: "50", Name: "parts", Socket: r.Socket(), Handler: h}, log)
	require.NoError(t, r.Joined(soon(t), 1))
	require.NoError(t, end())
	require.EqualValues(t, 20, h.pods)
	require.Equal(t, 1, log.count("is not connected"))
	require.Equal(t, 1, log.count("is connected"))
}

type synchronizes struct {
	rejects
	fail chan error
	pods int // of the last Synchronize
}

func (s *synchronizes) Synchronize(_ context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	s.pods = len(pods)
	select {
	case err := <-s.fail:
		return nil, err
	default:
		return nil, nil
	}
}

// A plugin may ask for updates in its first event, and while it is connected again.
func TestUpdateContainersInSynchronize(t *testing.T) {
	r := startRuntime(t)
	r.OnUpdate(func(updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return updates, nil })
	u := &updatesAtOnce{failed: make(chan int, 100)}
	u.p = &plugin.Plugin{Index: "50", Name: "updates", Socket: r.Socket(), Handler: u}
	end := run(t, u.p)
	over := make(chan struct{})
	var asking sync.WaitGroup
	asking.Add(1)
	go func() {
		defer asking.Done()
		for {
			select {
			case <-over:
				return
			default:
				_, _ = u.p.UpdateContainers(nil) // for the race detector
			}
		}
	}()
	require.NoError(t, r.Joined(soon(t), 1))
	require.Equal(t, 1, <-u.failed)
	r.Disconnect()
	require.NoError(t, r.Joined(soon(t), 2))
	require.Equal(t, 1, <-u.failed)
	close(over)
	asking.Wait()
	require.NoError(t, end())
}

type updatesAtOnce struct {
	rejects
	p      *plugin.Plugin
	failed chan int
}

func (u *updatesAtOnce) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	failed, err := u.p.UpdateContainers([]*api.ContainerUpdate{{ContainerId: "c"}})
	u.failed <- len(failed)
	return nil, err
}

// An author has options of the stub, and interceptors of ttrpc beside those of the package.
func TestRunHasTheAuthorsOptions(t *testing.T) {
	r := startRuntime(t)
	var asked, answered atomic.Int32
	closed := make(chan struct{})
	p := &plugin.Plugin{Index: "50", Name: "options", Socket: r.Socket(), Handler: rejects{}, Options: []stub.Option{
		stub.WithOnClose(sync.OnceFunc(func() { close(closed) })),
		stub.WithTTRPCOptions(
			[]ttrpc.ClientOpts{ttrpc.WithUnaryClientInterceptor(
				func(ctx context.Context, req *ttrpc.Request, resp *ttrpc.Response, _ *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker) error {
					asked.Add(1)
					return invoke(ctx, req, resp)
				})},
			[]ttrpc.ServerOpt{ttrpc.WithUnaryServerInterceptor(
				func(ctx context.Context, unmarshal ttrpc.Unmarshaler, _ *ttrpc.UnaryServerInfo, method ttrpc.Method) (any, error) {
					answered.Add(1)
					return method(ctx, unmarshal)
				})}),
	}}
	end := run(t, p)
	require.NoError(t, r.Joined(soon(t), 1))
	require.NoError(t, end())
	<-closed
	require.Positive(t, asked.Load())
	require.Positive(t, answered.Load())
}

// A registration that is refused is tried again at once, not after its timeout.
func TestRunAfterARefusal(t *testing.T) {
	r := listen(t, func(net.Conn) {})
	r.refuses = errors.New("not this one")
	end := run(t, &plugin.Plugin{Index: "50", Name: "refused", Socket: r.socket, Handler: rejects{}, RegistrationTimeout: time.Hour})
	for range 3 {
		r.registration(t)
	}
	require.NoError(t, end())
}

// The stub itself would wait without end for a runtime that is lost after it has accepted the
// registration, or hangs.
func TestRunEndsARegistrationThatLeadsNowhere(t *testing.T) {
	for name, lost := range map[string]bool{"the runtime is lost": true, "it hangs": false} {
		t.Run(name, func(t *testing.T) {
			r := listen(t, func(trunk net.Conn) {
				if lost {
					_ = trunk.Close()
				}
			})
			p := &plugin.Plugin{Index: "50", Name: "stuck", Socket: r.socket, Handler: rejects{}}
			if !lost {
				p.RegistrationTimeout = 50 * time.Millisecond
			}
			end := run(t, p)
			for range 3 {
				r.registration(t)
			}
			require.NoError(t, end())
		})
	}
}

// A registration has the plugin's own timeout, also for the runtime, and ends with the plugin.
func TestRegistrationTimeout(t *testing.T) {
	for name, set := range map[string]time.Duration{"30 s by default": 0, "as set": time.Hour} {
		t.Run(name, func(t *testing.T) {
			r := listen(t, func(net.Conn) {})
			end := run(t, &plugin.Plugin{Index: "50", Name: "slow", Socket: r.socket, Handler: rejects{}, RegistrationTimeout: set})
			want := max(set, 30*time.Second)
			require.InDelta(t, want.Seconds(), r.registration(t).Seconds(), 10)
			require.NoError(t, end())
		})
	}
}

// The plugin is not connected again while a handler of the last connection runs.
func TestRunWaitsForHandlers(t *testing.T) {
	r := startRuntime(t)
	h := &held{began: make(chan struct{}), over: make(chan struct{})}
	end := run(t, &plugin.Plugin{Index: "50", Name: "held", Socket: r.Socket(), Handler: h})
	require.NoError(t, r.Joined(soon(t), 1))
	go func() {
		_ = r.NRI().RunPodSandbox(t.Context(), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "a"}})
	}()
	<-h.began
	r.Disconnect()
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.ErrorIs(t, r.Joined(short, 2), context.DeadlineExceeded)
	close(h.over)
	require.NoError(t, r.Joined(soon(t), 2))
	require.NoError(t, end())
}

type held struct{ began, over chan struct{} }

func (h *held) RunPodSandbox(context.Context, *api.PodSandbox) error {
	close(h.began)
	<-h.over
	return nil
}

// A plugin that can never register returns.
func TestRunFailsForGood(t *testing.T) {
	for name, p := range map[string]*plugin.Plugin{
		"invalid index": {Index: "1", Name: "wrong", Handler: rejects{}},
		"no index":      {Name: "wrong", Handler: rejects{}},
		"no name":       {Index: "10", Handler: rejects{}},
		"no events":     {Index: "10", Name: "wrong", Handler: struct{}{}},
	} {
		t.Run(name, func(t *testing.T) { require.ErrorContains(t, p.Run(soon(t)), "plugin ") })
	}
}

// A plugin that the runtime starts has the index and the name that the runtime gives it, and ends with
// its connection.
func TestRunOfAPluginThatTheRuntimeStarts(t *testing.T) {
	folder := t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, exec.CommandContext(t.Context(), "cp", program, filepath.Join(folder, "10-started")).Run())
	synchronize := func(ctx context.Context, send adaptation.SyncCB) error {
		_, err := send(ctx, nil, nil)
		return err
	}
	update := func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) { return nil, nil }
	nri, err := adaptation.New("test", "1", synchronize, update, adaptation.WithDisabledExternalConnections(),
		adaptation.WithPluginPath(folder), adaptation.WithPluginConfigPath(t.TempDir()))
	require.NoError(t, err)
	require.NoError(t, nri.Start())
	defer nri.Stop()
	require.ErrorContains(t, nri.RunPodSandbox(soon(t), &api.RunPodSandboxRequest{Pod: &api.PodSandbox{Id: "a"}}), "rejected")
}

// It ends with the connection that the runtime has given to it.
func TestRunOfAPluginWhoseRuntimeHasEnded(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	ends, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	ours, theirs := os.NewFile(uintptr(ends[0]), "ours"), os.NewFile(uintptr(ends[1]), "theirs")
	process := exec.CommandContext(soon(t), program)
	process.Env = append(os.Environ(), api.PluginSocketEnvVar+"=3", api.PluginNameEnvVar+"=given", api.PluginIdxEnvVar+"=10")
	process.ExtraFiles = []*os.File{theirs}
	var log bytes.Buffer
	process.Stderr = &log
	require.NoError(t, process.Start())
	require.NoError(t, errors.Join(ours.Close(), theirs.Close()))
	require.NoError(t, process.Wait())
	require.Contains(t, log.String(), "plugin=10-given")
}

// A request has the share that the runtime sends.
func TestShare(t *testing.T) {
	for text, want := range map[string]time.Duration{"": 0, "1500": 1500 * time.Millisecond, "-1": 0, "99999999999999": 0, "1s": 0} {
		md := ttrpc.MD{}
		if text != "" {
			md.Set("nri-time-share", text)
		}
		require.Equal(t, want, plugin.Share(ttrpc.WithMetadata(t.Context(), md)), text)
	}
}

// startRuntime starts a runtime for a test.
func startRuntime(t *testing.T) *plugintest.Runtime {
	t.Helper()
	r := plugintest.NewRuntime(short(t))
	require.NoError(t, r.Start())
	t.Cleanup(r.Stop)
	return r
}

// short is a folder whose name is short enough for a socket.
func short(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "nri")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

// run runs a plugin until end is called, which returns its error.
func run(t *testing.T, p *plugin.Plugin) (end func() error) {
	t.Helper()
	return runLogged(t, p, io.Discard)
}

// lines is a log.
type lines struct {
	mu   sync.Mutex // guards text
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

func runLogged(t *testing.T, p *plugin.Plugin, log io.Writer) (end func() error) {
	t.Helper()
	p.Log = slog.New(slog.NewTextHandler(log, nil))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Run(ctx) }()
	t.Cleanup(cancel)
	return func() error {
		cancel()
		select {
		case err := <-ended:
			return err
		case <-soon(t).Done():
			return errors.New("the plugin does not end")
		}
	}
}

func soon(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// accepting is a runtime that accepts registrations and goes no further.
type accepting struct {
	socket   string
	timeouts chan time.Duration
	after    func(trunk net.Conn)
	refuses  error
}

func listen(t *testing.T, after func(net.Conn)) *accepting {
	t.Helper()
	a := &accepting{socket: filepath.Join(short(t), "nri.sock"), timeouts: make(chan time.Duration, 100), after: after}
	l, err := net.Listen("unix", a.socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			trunk, err := l.Accept()
			if err != nil {
				return
			}
			go a.serve(trunk)
		}
	}()
	return a
}

func (a *accepting) serve(trunk net.Conn) {
	mux := multiplex.Multiplex(trunk)
	calls, err := mux.Listen(multiplex.RuntimeServiceConn)
	if err != nil {
		return
	}
	var server *ttrpc.Server
	server, err = ttrpc.NewServer(ttrpc.WithUnaryServerInterceptor(
		func(ctx context.Context, unmarshal ttrpc.Unmarshaler, _ *ttrpc.UnaryServerInfo, method ttrpc.Method) (any, error) {
			deadline, _ := ctx.Deadline()
			a.timeouts <- time.Until(deadline)
			if a.refuses == nil {
				go func() { _ = server.Shutdown(context.Background()) }() // when it is answered
			}
			return method(ctx, unmarshal)
		}))
	if err != nil {
		return
	}
	api.RegisterRuntimeService(server, a)
	_ = server.Serve(context.Background(), calls)
	a.after(trunk)
}

func (a *accepting) RegisterPlugin(context.Context, *api.RegisterPluginRequest) (*api.Empty, error) {
	return &api.Empty{}, a.refuses
}

func (a *accepting) UpdateContainers(context.Context, *api.UpdateContainersRequest) (*api.UpdateContainersResponse, error) {
	return nil, errors.ErrUnsupported
}

// registration waits for a registration, and returns its timeout.
func (a *accepting) registration(t *testing.T) time.Duration {
	t.Helper()
	select {
	case timeout := <-a.timeouts:
		return timeout
	case <-soon(t).Done():
		require.Fail(t, "no registration")
		return 0
	}
}
