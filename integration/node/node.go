// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	containerd "github.com/containerd/containerd/v2/client"

	"github.com/hookline-nri/hookline/integration/cri"
	"github.com/hookline-nri/hookline/integration/image"
)

// namespace is the containerd namespace of CRI.
const namespace = "k8s.io"

// patience is how long removing a node may take.
const patience = 30 * time.Second

// Node is a running containerd with everything that belongs to it.
type Node struct {
	options Options
	paths   paths
	lock    *os.File
	group   cgroup
	ns      *namespaces

	cmd    *exec.Cmd
	exited chan struct{} // closed once containerd has been waited for
	client *containerd.Client
	cri    *cri.Client

	// baseline is the inventory without pods.
	baseline map[Leftover]bool
}

// Start runs a node, ready for pods. It first removes what killed runs have left. On
// error nothing of the node is left, and the error has the end of containerd's log.
func Start(ctx context.Context, options Options) (_ *Node, retErr error) {
	if err := options.Check(); err != nil {
		return nil, err
	}
	if options.Base == "" {
		options.Base = DefaultBase
	}
	p, lock, err := claim(ctx, options.Base)
	if err != nil {
		return nil, fmt.Errorf("make folder of node: %w", err)
	}
	n := &Node{options: options, paths: p, lock: lock}
	defer func() {
		if retErr != nil {
			retErr = errors.Join(retErr, n.Close())
		}
	}()
	if n.group, err = newCgroup(p.cgroup()); err != nil {
		return nil, err
	}
	if err := p.write(options); err != nil {
		return nil, fmt.Errorf("configure node: %w", err)
	}
	if n.ns, err = newNamespaces(p.varLib()); err != nil {
		return nil, err
	}
	if n.cri, err = cri.Dial(p.grpc(), image.Name, n.group.podParent()); err != nil {
		return nil, err
	}
	if err := n.Boot(ctx); err != nil {
		return nil, err
	}
	if err := n.load(ctx); err != nil {
		return nil, n.withLog(fmt.Errorf("load image: %w", err))
	}
	if n.baseline, err = n.inventory(ctx); err != nil {
		return nil, n.withLog(err)
	}
	return n, nil
}

// Close stops and removes all of the node, whatever state it is in.
func (n *Node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	var errs []error
	if n.cri != nil {
		errs = append(errs, n.cri.Close())
	}
	errs = append(errs, n.disconnect())
	if n.ns != nil {
		errs = append(errs, n.ns.close())
	}
	err := n.paths.end(ctx)
	if err == nil {
		if n.exited != nil {
			<-n.exited
		}
		err = n.paths.release()
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("remove node %s: %w", n.paths, err))
	}
	n.cri, n.ns = nil, nil
	if n.lock != nil {
		errs = append(errs, n.lock.Close())
		n.lock = nil
	}
	return errors.Join(errs...)
}

// CRI is the node's CRI client.
func (n *Node) CRI() *cri.Client { return n.cri }

// Containerd is a client of containerd itself, in CRI's namespace. Boot creates a new
// one.
func (n *Node) Containerd() *containerd.Client { return n.client }

// PID is the process id of containerd, until it is stopped or killed.
func (n *Node) PID() int { return n.cmd.Process.Pid }

// NRISocket is where NRI plugins connect.
func (n *Node) NRISocket() string { return n.paths.nri() }

// ShimSockets is the folder of the sockets of its shims.
func (n *Node) ShimSockets() string { return n.paths.shims() }

// Within runs f in the node's mount and network namespaces, on a thread of its own.
func (n *Node) Within(f func() error) error { return n.ns.do(f) }

// Folder is the node's folder.
func (n *Node) Folder() string { return string(n.paths) }

// CNI returns the folders of CNI plugins and of CNI configurations, for tests
// that change them.
func (n *Node) CNI() (bin, conf string) { return n.paths.cniBin(), n.paths.cniConf() }

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

// CRISocket is where CRI is served.
func (n *Node) CRISocket() string { return n.paths.grpc() }

// PodCgroup is the cgroup that pods of the node live below.
func (n *Node) PodCgroup() string { return n.group.podParent() }
