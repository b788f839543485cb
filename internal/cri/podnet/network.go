// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"context"
	"os"
	"reflect"
	"sync"
	"sync/atomic"

	gocni "github.com/containerd/go-cni"

	"github.com/hookline-nri/hookline/internal/cri/cniexec"
	"github.com/hookline-nri/hookline/internal/cri/netattach"
	"github.com/hookline-nri/hookline/internal/cri/netstatus"
)

// Options are what a Network may be told.
type Options struct {
	// Status are the times and the observer of STATUS.
	Status netstatus.Options
	// CacheDir is where libcni keeps attachments. Default libcni's own folder,
	// which go-cni uses.
	CacheDir string
}

// A Network is a go-cni object that can be asked and left without waiting.
type Network struct {
	gocni.CNI
	status   *netstatus.Monitor
	cacheDir string
	loaded   atomic.Pointer[gocni.ConfigResult]

	life context.Context // of what is done in the background
	end  context.CancelFunc
	work sync.WaitGroup

	loads sync.Mutex // one Load at a time; go-cni has them wait for each other as well

	mu         sync.Mutex                     // guards what follows
	collecting <-chan struct{}                // closed when a garbage collection is over, nil without one
	failed     map[string]*gocni.ConfigResult // by pod, what was loaded when its ADD began, which failed
}

var _ gocni.CNI = (*Network)(nil)

// New returns the network of a go-cni object that nobody else loads.
func New(cni gocni.CNI, options Options) *Network {
	n := &Network{CNI: cni, cacheDir: options.CacheDir, failed: map[string]*gocni.ConfigResult{}}
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
	config := n.GetConfig()
	for _, network := range config.Networks {
		if network.IFName != "lo" {
			if s := n.status.Kept(); s.State != netstatus.Unknown {
				return s.Err()
			}
			return nil
		}
	}
	return gocni.ErrCNINotInitialized
}

// Setup attaches a pod. If that fails, STATUS is asked again.
func (n *Network) Setup(ctx context.Context, id, path string, opts ...gocni.NamespaceOpts) (*gocni.Result, error) {
	return n.add(ctx, id, path, opts, n.CNI.Setup)
}

// SetupSerially is Setup with one network after the other.
func (n *Network) SetupSerially(ctx context.Context, id, path string, opts ...gocni.NamespaceOpts) (*gocni.Result, error) {
	return n.add(ctx, id, path, opts, n.CNI.SetupSerially)
}

type setup func(context.Context, string, string, ...gocni.NamespaceOpts) (*gocni.Result, error)

func (n *Network) add(ctx context.Context, id, path string, opts []gocni.NamespaceOpts, setup setup) (*gocni.Result, error) {
	if err := n.collected(ctx); err != nil {
		return nil, err
	}
	config := n.GetConfig()
	result, err := setup(ctx, id, path, opts...)
	if err != nil {
		// Of its ADD nothing is kept, and its DEL is not for a network that is
		// loaded meanwhile.
		n.mu.Lock()
		n.failed[id] = config
		n.mu.Unlock()
		n.status.AddFailed()
	}
	return result, err
}

// Detach takes a pod off its networks, whatever is loaded and whatever STATUS
// says (N3), see [netattach.Kept.Detach].
func (n *Network) Detach(ctx context.Context, pod netattach.Pod) (netattach.Result, error) {
	n.mu.Lock()
	config := n.failed[pod.ID]
	n.mu.Unlock()
	if config == nil {
		config = n.GetConfig()
	}
	result, err := n.kept(config).Detach(ctx, pod, config)
	if err == nil {
		n.mu.Lock()
		delete(n.failed, pod.ID)
		n.mu.Unlock()
	}
	return result, err
}

// kept is what libcni keeps. Plugins run as with go-cni, but for a deadline that
// holds.
func (n *Network) kept(config *gocni.ConfigResult) *netattach.Kept {
	return netattach.New(config.PluginDirs, n.cacheDir, &cniexec.Exec{Stderr: os.Stderr})
}

// Close ends what is under way. It does not wait for go-cni.
func (n *Network) Close() {
	n.end()
	n.status.Close()
	n.work.Wait()
}
