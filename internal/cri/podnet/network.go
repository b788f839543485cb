// SPDX-License-Identifier: Apache-2.0

package podnet

import (
	"context"
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

	mu         sync.Mutex    // guards collecting
	collecting chan struct{} // closed when a garbage collection is over, nil without one
}

var _ gocni.CNI = (*Network)(nil)

// New returns the network of a go-cni object that nobody else loads.
func New(cni gocni.CNI, options Options) *Network {
	n := &Network{CNI: cni, cacheDir: options.CacheDir}
	n.life, n.end = context.WithCancel(context.Background())
	n.loaded.Store(cni.GetConfig())
	n.status = netstatus.New(n.GetConfig, &cniexec.Exec{Sweep: true}, options.Status)
	return n
}

// Load loads the configuration, and has STATUS asked again.
func (n *Network) Load(opts ...gocni.Opt) error {
	n.loads.Lock()
	defer n.loads.Unlock()
	err := n.CNI.Load(opts...)
	n.loaded.Store(n.CNI.GetConfig()) // also after an error: what was loaded before is gone
	n.status.Changed()
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
	result, err := setup(ctx, id, path, opts...)
	if err != nil {
		n.status.AddFailed()
	}
	return result, err
}

// Detach takes a pod off its networks, whatever is loaded and whatever STATUS
// says (N3), see [netattach.Kept.Detach].
func (n *Network) Detach(ctx context.Context, pod netattach.Pod) (netattach.Result, error) {
	config := n.GetConfig()
	return n.kept(config).Detach(ctx, pod, config)
}

func (n *Network) kept(config *gocni.ConfigResult) *netattach.Kept {
	return netattach.New(config.PluginDirs, n.cacheDir, nil)
}

// Close ends what is under way. It does not wait for go-cni.
func (n *Network) Close() {
	n.end()
	n.status.Close()
	n.work.Wait()
}
