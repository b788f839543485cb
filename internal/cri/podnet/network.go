// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"context"
	"fmt"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	gocni "github.com/containerd/go-cni"
	types100 "github.com/containernetworking/cni/pkg/types/100"
	"go.opentelemetry.io/otel/attribute"

	"github.com/hookline-nri/hookline/internal/cri/cniexec"
	"github.com/hookline-nri/hookline/internal/cri/cnispan"
	"github.com/hookline-nri/hookline/internal/cri/netattach"
	"github.com/hookline-nri/hookline/internal/cri/netconf"
	"github.com/hookline-nri/hookline/internal/cri/netstatus"
)

// Options of a Network.
type Options struct {
	// Status are the times and the observer of STATUS.
	Status netstatus.Options
	// CacheDir is where libcni keeps attachments. Default libcni's own folder,
	// which go-cni uses.
	CacheDir string
}

// A Network is a go-cni object whose STATUS and DEL do not wait for go-cni's lock.
type Network struct {
	gocni.CNI
	status   *netstatus.Monitor
	cacheDir string
	began    time.Time
	loaded   atomic.Pointer[gocni.ConfigResult]

	life context.Context // of the work in the background
	end  context.CancelFunc
	work sync.WaitGroup

	loads sync.Mutex // makes the copy that of go-cni's last load

	mu         sync.Mutex                     // guards the fields below
	collecting <-chan struct{}                // closed when a garbage collection is over, nil without one
	tried      map[string]*gocni.ConfigResult // by pod, the configuration of its ADD, which failed
}

var _ gocni.CNI = (*Network)(nil)

// New returns the network of a go-cni object. Only the network may load it from then on.
func New(cni gocni.CNI, options Options) *Network {
	n := &Network{
		CNI:      cni,
		cacheDir: options.CacheDir,
		began:    time.Now(),
		tried:    map[string]*gocni.ConfigResult{},
	}
	n.life, n.end = context.WithCancel(context.Background())
	n.loaded.Store(cni.GetConfig())
	n.status = netstatus.New(n.GetConfig, &cniexec.Exec{Sweep: true}, options.Status)
	return n
}

// Load loads the configuration, and has STATUS run again only if it changed. Otherwise a file
// that is rewritten often would keep a STATUS that hangs from timing out.
func (n *Network) Load(opts ...gocni.Opt) error {
	n.loads.Lock()
	defer n.loads.Unlock()
	before := n.GetConfig()
	err := n.CNI.Load(opts...)
	config := n.CNI.GetConfig() // also after an error: the former one is no longer loaded
	n.loaded.Store(config)
	if !reflect.DeepEqual(before, config) {
		n.status.Changed()
	}
	return err
}

// GetConfig returns the loaded configuration, which must not be changed. It never
// waits.
func (n *Network) GetConfig() *gocni.ConfigResult { return n.loaded.Load() }

// Answer returns the last answer to STATUS, see [netstatus.Monitor.Status].
func (n *Network) Answer(ctx context.Context) netstatus.Status { return n.status.Status(ctx) }

// Current returns the last answer to STATUS, without a wait, see [netstatus.Monitor.Current].
func (n *Network) Current() netstatus.Status { return n.status.Current() }

// Status returns nil if networks are loaded and, as far as is known, take pods. It
// neither waits nor starts anything.
func (n *Network) Status() error {
	if len(netconf.OfPods(n.GetConfig())) == 0 {
		return gocni.ErrCNINotInitialized
	}
	if s := n.status.Last(); s.State != netstatus.Unknown {
		return classed(s.Err())
	}
	return nil
}

// Attach attaches a pod to the loaded networks, see [netattach.Cache.Attach]. It
// replaces go-cni's Setup, which does not let its caller choose how plugins are run:
// a plugin that is killed there leaves its children running, such as an IPAM plugin
// that allocates after the DEL (L7). If it fails, STATUS is run again.
//
// Attach and Detach are spans, with the names that go-cni gives them.
func (n *Network) Attach(ctx context.Context, pod netattach.Pod, serially bool) (result *gocni.Result, err error) {
	name := "cni.Setup"
	if serially {
		name = "cni.SetupSerially"
	}
	ctx, end := span(ctx, name, pod)
	defer func() { end(err) }()
	if err := n.collected(ctx); err != nil {
		return nil, fmt.Errorf("wait for the garbage collection of networks: %w", err)
	}
	config := n.GetConfig()
	result, err = n.add(ctx, pod, config, serially)
	if err != nil {
		// libcni has no cached attachment of this ADD, and the DEL is not for a network
		// that is loaded later.
		n.mu.Lock()
		n.tried[pod.ID] = config
		n.mu.Unlock()
		n.status.AddFailed()
	}
	return result, err
}

// results is go-cni's conversion of results. No interface of go-cni has it.
type results interface {
	GetCNIResultFromResults([]*types100.Result) (*gocni.Result, error)
}

func (n *Network) add(ctx context.Context, pod netattach.Pod, config *gocni.ConfigResult, serially bool) (*gocni.Result, error) {
	if len(netconf.OfPods(config)) == 0 {
		return nil, gocni.ErrCNINotInitialized
	}
	raw, err := n.cache(config).Attach(ctx, pod, config, serially)
	if err != nil {
		return nil, err
	}
	made, ok := n.CNI.(results)
	if !ok {
		return nil, fmt.Errorf("result of an ADD by %T: %w", n.CNI, errdefs.ErrNotImplemented)
	}
	return made.GetCNIResultFromResults(raw)
}

func span(ctx context.Context, name string, pod netattach.Pod) (context.Context, func(error)) {
	return cnispan.Start(ctx, name, func() []attribute.KeyValue {
		return []attribute.KeyValue{attribute.String("cni.id", pod.ID), attribute.String("cni.path", pod.NetNS)}
	})
}

// Began returns the time from which on the network knows of each ADD.
func (n *Network) Began() time.Time { return n.began }

// Detach detaches a pod from its networks, whatever is loaded and whatever STATUS
// says (N3), see [netattach.Cache.Detach].
func (n *Network) Detach(ctx context.Context, pod netattach.Pod) (result netattach.Result, err error) {
	ctx, end := span(ctx, "cni.Remove", pod)
	defer func() { end(err) }()
	n.mu.Lock()
	pod.Tried = n.tried[pod.ID]
	n.mu.Unlock()

	config := n.GetConfig()
	result, err = n.cache(config).Detach(ctx, pod, config)
	if err != nil {
		return result, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.tried, pod.ID)
	return result, nil
}

// killedPatience is how long to wait for the process group of a killed plugin.
const killedPatience = 10 * time.Second

// cache returns libcni's cache of attachments. Plugins run as with go-cni, but with a deadline
// that also ends the processes that they start.
func (n *Network) cache(config *gocni.ConfigResult) *netattach.Cache {
	return netattach.New(config.PluginDirs, n.cacheDir, &cniexec.Exec{Stderr: os.Stderr, Patience: killedPatience})
}

// Close stops the work in the background. It does not wait for go-cni.
func (n *Network) Close() {
	n.end()
	n.status.Close()
	n.work.Wait()
}
