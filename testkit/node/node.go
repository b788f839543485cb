// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	containerd "github.com/containerd/containerd/v2/client"

	"github.com/hookline-nri/hookline/testkit/cri"
	"github.com/hookline-nri/hookline/testkit/host"
	"github.com/hookline-nri/hookline/testkit/image"
)

// namespace is the containerd namespace of CRI.
const namespace = "k8s.io"

// Node is a running containerd with everything that belongs to it.
type Node struct {
	*host.Host
	options Options
	paths   paths
	daemon  *host.Daemon
	client  *containerd.Client
	cri     *cri.Client

	// baseline is the inventory without pods.
	baseline map[Leftover]bool
}

// Start runs a node, ready for pods. It first removes the leftovers of killed runs. On error nothing
// of the node is left, and the error has the end of containerd's log.
func Start(ctx context.Context, options Options) (_ *Node, retErr error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	h, err := host.New(ctx, options.Base)
	if err != nil {
		return nil, err
	}
	p := paths(h.Folder())
	n := &Node{Host: h, options: options, paths: p, daemon: h.Daemon("containerd")}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(retErr, n.Close())
		}
	}()
	if err := p.write(options); err != nil {
		return nil, fmt.Errorf("configure node: %w", err)
	}
	if n.cri, err = cri.Dial(p.grpc(), image.Name, n.PodCgroup()); err != nil {
		return nil, err
	}
	if err := n.Boot(ctx); err != nil {
		return nil, err
	}
	if err := n.load(ctx); err != nil {
		return nil, n.daemon.WithLog(fmt.Errorf("load image: %w", err))
	}
	if n.baseline, err = n.inventory(ctx); err != nil {
		return nil, n.daemon.WithLog(err)
	}
	return n, nil
}

// Close stops and removes all of the node, in any state.
func (n *Node) Close() error {
	var errs []error
	if n.cri != nil {
		errs = append(errs, n.cri.Close())
	}
	n.cri = nil
	return errors.Join(append(errs, n.disconnect(), n.Host.Close())...)
}

// CRI returns the node's CRI client.
func (n *Node) CRI() *cri.Client { return n.cri }

// Containerd returns a client of containerd itself, in CRI's namespace. Boot creates a new one.
func (n *Node) Containerd() *containerd.Client { return n.client }

// PID returns the process id of containerd, until it is stopped or killed.
func (n *Node) PID() int { return n.daemon.PID() }

// Log returns containerd's log so far.
func (n *Node) Log() (string, error) { return n.daemon.Log() }

// NRISocket returns the socket for NRI plugins.
func (n *Node) NRISocket() string { return n.paths.nri() }

// ShimSockets returns the folder of the sockets of its shims.
func (n *Node) ShimSockets() string { return n.paths.shims() }

// CNI returns the folders of CNI plugins and of CNI configurations, for tests
// that change them.
func (n *Node) CNI() (bin, conf string) { return n.paths.cniBin(), n.paths.cniConf() }

// CDI returns the folder of specifications of CDI devices. It exists once a test makes it.
func (n *Node) CDI() string { return n.paths.cdi() }

// load imports the image and waits until CRI knows it.
func (n *Node) load(ctx context.Context) error {
	program := n.options.Pause
	if program == "" {
		program = filepath.Join(n.Folder(), "pause")
		if err := image.BuildProgram(ctx, program); err != nil {
			return err
		}
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	return n.Import(ctx, image.Name, content)
}

// CRISocket returns the socket of CRI.
func (n *Node) CRISocket() string { return n.paths.grpc() }
