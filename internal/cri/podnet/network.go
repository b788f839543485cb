// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"cmp"
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

	"github.com/hookline-nri/hookline/internal/cri/cniexec"
	"github.com/hookline-nri/hookline/internal/cri/netattach"
	"github.com/hookline-nri/hookline/internal/cri/netconf"
	"github.com/hookline-nri/hookline/internal/cri/netstatus"
)

// Options are what a Network may be told.
type Options struct {
	// Status are the times and the observer of STATUS.
	Status netstatus.Options
	// CacheDir is where libcni keeps attachments. Default libcni's own folder,
	// which go-cni uses.
	CacheDir string
	// Patience is how long the DEL of a pod is tried again whose network was
	// replaced by another. Default 5 min.
	Patience time.Duration
}

// A Network is a go-cni object that can be asked and left without waiting.
type Network struct {
	gocni.CNI
	status   *netstatus.Monitor
	cacheDir string
	patience time.Duration
	began    time.Time
	loaded   atomic.Pointer[gocni.ConfigResult]

	life context.Context // of what is done in the background
	end  context.CancelFunc
	work sync.WaitGroup

	loads sync.Mutex // keeps the copy that is loaded the last that go-cni has

	mu         sync.Mutex                     // guards what follows
	collecting <-chan struct{}                // closed when a garbage collection is over, nil without one
	tried      map[string]*gocni.ConfigResult // by pod, what was loaded when its ADD began, which failed
	detaching  map[string]time.Time           // by pod, since when its DEL fails
}

var _ gocni.CNI = (*Network)(nil)

// New returns the network of a go-cni object that nobody else loads.
func New(cni gocni.CNI, options Options) *Network {
	n := &Network{
		CNI:       cni,
		cacheDir:  options.CacheDir,
		patience:  cmp.Or(options.Patience, 5*time.Minute),
		began:     time.Now(),
		tried:     map[string]*gocni.ConfigResult{},
		detaching: map[string]time.Time{},
	}
	n.life, n.end = context.WithCancel(context.Background())
	n.loaded.Store(cni.GetConfig())
	n.status = netstatus.New(n.GetConfig, &cniexec.Exec{Sweep: true}, options.Status)
	return n
}

// Load loads the configuration, and has STATUS asked again if it is another. A
// file that is merely written again would otherwise, if often enough, keep a
// STATUS that hangs from ever being known.
func (n *Network) Load(opts ...gocni.Opt) error {
	n.loads.Lock()
	defer n.loads.Unlock()
	before := n.GetConfig()
	err := n.CNI.Load(opts...)
	config := n.CNI.GetConfig() // also after an error: what was loaded before is gone
	n.loaded.Store(config)
	if !reflect.DeepEqual(before, config) {
		n.status.Changed()
	}
	return err
}

// GetConfig returns what is loaded. It waits for nothing, and is not to be
// changed.
func (n *Network) GetConfig() *gocni.ConfigResult { return n.loaded.Load() }

// Answer is the STATUS that is kept, see [netstatus.Monitor.Status].
func (n *Network) Answer(ctx context.Context) netstatus.Status { return n.status.Status(ctx) }

// Status returns nil if networks are loaded and, as far as is known, take pods.
// It waits for nothing and starts nothing.
func (n *Network) Status() error {
	if len(netconf.OfPods(n.GetConfig())) == 0 {
		return gocni.ErrCNINotInitialized
	}
	if s := n.status.Kept(); s.State != netstatus.Unknown {
		return s.Err()
	}
	return nil
}

// Attach attaches a pod to the networks that are loaded, see
// [netattach.Kept.Attach]. It takes the place of go-cni's Setup, whose way to run
// plugins cannot be chosen: who is killed there leaves behind what it had started,
// an IPAM plugin that allocates after the DEL for one (L7). If it fails, STATUS is
// asked again.
func (n *Network) Attach(ctx context.Context, pod netattach.Pod, serially bool) (*gocni.Result, error) {
	if err := n.collected(ctx); err != nil {
		return nil, fmt.Errorf("wait for the garbage collection of networks: %w", err)
	}
	config := n.GetConfig()
	result, err := n.add(ctx, pod, config, serially)
	if err != nil {
		// Of its ADD nothing is kept, and its DEL is not for a network that is
		// loaded meanwhile.
		n.mu.Lock()
		n.tried[pod.ID] = config
		n.mu.Unlock()
		n.status.AddFailed()
	}
	return result, err
}

// results is what go-cni makes its own results with. It is of no interface there.
type results interface {
	GetCNIResultFromResults([]*types100.Result) (*gocni.Result, error)
}

func (n *Network) add(ctx context.Context, pod netattach.Pod, config *gocni.ConfigResult, serially bool) (*gocni.Result, error) {
	if len(netconf.OfPods(config)) == 0 {
		return nil, gocni.ErrCNINotInitialized
	}
	raw, err := n.kept(config).Attach(ctx, pod, config, serially)
	if err != nil {
		return nil, err
	}
	made, ok := n.CNI.(results)
	if !ok {
		return nil, fmt.Errorf("result of an ADD by %T: %w", n.CNI, errdefs.ErrNotImplemented)
	}
	return made.GetCNIResultFromResults(raw)
}

// Began is from when on it knows of each ADD.
func (n *Network) Began() time.Time { return n.began }

// Detach takes a pod off its networks, whatever is loaded and whatever STATUS
// says (N3), see [netattach.Kept.Detach].
func (n *Network) Detach(ctx context.Context, pod netattach.Pod) (netattach.Result, error) {
	n.mu.Lock()
	pod.Tried = n.tried[pod.ID]
	since, failed := n.detaching[pod.ID]
	pod.Overdue = failed && time.Since(since) >= n.patience
	n.mu.Unlock()

	config := n.GetConfig()
	result, err := n.kept(config).Detach(ctx, pod, config)

	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err == nil:
		delete(n.tried, pod.ID)
		delete(n.detaching, pod.ID)
	case !failed:
		n.detaching[pod.ID] = time.Now()
	}
	return result, err
}

// killedPatience is how long what was started by a plugin that was killed is waited for.
const killedPatience = 10 * time.Second

// kept is what libcni keeps. Plugins run as with go-cni, but for a deadline that
// holds for all that they start.
func (n *Network) kept(config *gocni.ConfigResult) *netattach.Kept {
	return netattach.New(config.PluginDirs, n.cacheDir, &cniexec.Exec{Stderr: os.Stderr, Patience: killedPatience})
}

// Close ends what is under way. It does not wait for go-cni.
func (n *Network) Close() {
	n.end()
	n.status.Close()
	n.work.Wait()
}
