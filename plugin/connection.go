// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/containerd/ttrpc"
)

const registrationTimeout = 30 * time.Second

// A connection is one registration. It has a stub of its own: those of some versions of NRI cannot
// register twice.
type connection struct {
	plugin   *Plugin
	stub     stub.Stub
	ctx      context.Context // of Run
	handlers sync.RWMutex    // each handler that runs holds it for reading, and drain for good

	begun context.Context           // ends when the runtime has configured the plugin, or with errLost
	begin context.CancelCauseFunc   // of begun
	began atomic.Pointer[time.Time] // when the plugin was synchronized
}

// errLost is the cause of a connection's end before it has begun.
var errLost = errors.New("the connection was lost before the runtime configured the plugin")

// connection returns a connection that is not made yet.
func (p *Plugin) connection() (*connection, error) {
	c := &connection{plugin: p}
	c.begun, c.begin = context.WithCancelCause(context.Background())
	options := slices.Concat(p.Options, p.identity(), []stub.Option{
		stub.WithTTRPCOptions(
			[]ttrpc.ClientOpts{ttrpc.WithChainUnaryClientInterceptor(c.ask)},
			[]ttrpc.ServerOpt{ttrpc.WithChainUnaryServerInterceptor(c.answer)}),
		stub.WithDialer(c.dial),
	})
	if err := p.checkIdentity(); err != nil {
		return nil, err
	}
	var err error
	c.stub, err = stub.New(p.Handler, options...)
	return c, err
}

func (p *Plugin) checkIdentity() error {
	if (p.Index == "") != (p.Name == "") {
		return errors.New("it needs both an index and a name, or none")
	}
	if p.Index == "" {
		return nil
	}
	return api.CheckPluginIndex(p.Index)
}

// identity leaves out what the runtime gives to a plugin that it starts: the stub refuses a second index.
func (p *Plugin) identity() []stub.Option {
	options := []stub.Option{stub.WithSocketPath(cmp.Or(p.Socket, api.DefaultSocketPath))}
	if os.Getenv(api.PluginIdxEnvVar) == "" {
		options = append(options, stub.WithPluginIdx(p.Index))
	}
	if os.Getenv(api.PluginNameEnvVar) == "" {
		options = append(options, stub.WithPluginName(p.Name))
	}
	return options
}

// serve registers the plugin, and returns when the connection has ended.
func (c *connection) serve(ctx context.Context) error {
	c.ctx = ctx
	return cmp.Or(c.stub.Run(ctx), net.ErrClosed)
}

// drain waits until no handler runs any more.
func (c *connection) drain() {
	c.handlers.Lock()
	c.plugin.set(nil)
}

// served returns how long ago the plugin was synchronized, 0 if it was not.
func (c *connection) served() time.Duration {
	if t := c.began.Load(); t != nil {
		return time.Since(*t)
	}
	return 0
}

// ask sends a request to the runtime. A registration has the plugin's timeout instead of the stub's, and
// lasts until the runtime has configured the plugin: the stub itself waits for that without end.
func (c *connection) ask(ctx context.Context, req *ttrpc.Request, resp *ttrpc.Response, info *ttrpc.UnaryClientInfo, invoke ttrpc.Invoker) error {
	switch path.Base(info.FullMethod) {
	case "RegisterPlugin":
	case "UpdateContainers":
		return c.update(ctx, req, resp, invoke)
	default:
		return invoke(ctx, req, resp)
	}
	timeout := cmp.Or(c.plugin.RegistrationTimeout, registrationTimeout)
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	req.TimeoutNano = timeout.Nanoseconds()
	if err := invoke(ctx, req, resp); err != nil || resp.GetStatus().GetCode() != 0 {
		return err
	}
	select {
	case <-c.begun.Done():
		if err := context.Cause(c.begun); errors.Is(err, errLost) {
			return err
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait %s for the runtime to configure the plugin: %w", timeout, ctx.Err())
	}
}

// answer passes a request of the runtime on to the stub, unless the connection has ended.
func (c *connection) answer(ctx context.Context, unmarshal ttrpc.Unmarshaler, info *ttrpc.UnaryServerInfo, method ttrpc.Method) (any, error) {
	if !c.handlers.TryRLock() {
		return nil, net.ErrClosed
	}
	defer c.handlers.RUnlock()
	var g given
	defer g.end()
	if path.Base(info.FullMethod) == "RunPodSandbox" {
		ctx = context.WithValue(ctx, givenKey{}, &g)
	}
	reply, err := method(ctx, unmarshal)
	if err == nil {
		err = c.complete(reply, &g)
	}
	switch path.Base(info.FullMethod) {
	case "Configure":
		c.begin(nil)
		c.plugin.set(c)
	case "Synchronize":
		if r, ok := reply.(*api.SynchronizeResponse); ok && err == nil && !r.GetMore() {
			c.synchronized()
		}
	}
	return reply, err
}

func (c *connection) synchronized() {
	now := time.Now()
	c.began.Store(&now)
	c.plugin.log().Info("the plugin is connected", "plugin", c.plugin.name())
}

// dial connects to the runtime. Only this connection sees its own end before the stub has started.
func (c *connection) dial(socket string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(c.ctx, "unix", socket)
	if err != nil {
		return nil, err
	}
	return &watched{conn, func() { c.begin(errLost) }}, nil
}

// watched is a connection whose end is noted.
type watched struct {
	net.Conn
	lost func()
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err != nil {
		w.lost()
	}
	return n, err
}
