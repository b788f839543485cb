// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hookline-nri/hookline/testkit/node"
)

// Options are the options of a run on one runtime.
type Options struct {
	Node    node.Options // Bin and Tools
	Folder  string       // for the output and report of a suite; made anew
	OwnPIDs bool         // pods and containers have PID namespaces of their own, unless they ask for others
}

// Result is the result of a test.
type Result struct {
	State  string // passed, failed, skipped, or another of ginkgo's
	Reason string // of a test that did not pass, if the suite gives one
	File   string // the file of the test's source, if the suite reports it
}

// Results has the result of each test, by its name.
type Results map[string]Result

// output is the file of a suite's output.
const output = "output.txt"

// served is a node whose CRI is served at a socket.
type served struct {
	*node.Node
	socket string
}

func (s served) CRISocket() string { return s.socket }

// on starts a node that pulls its images from the registry, calls do with the address of the
// registry on the node's loopback, and removes the node with all pods.
func (r Registry) on(ctx context.Context, o Options, do func(n served, folder, registry string) error) (retErr error) {
	if err := os.RemoveAll(o.Folder); err != nil {
		return err
	}
	folder, err := filepath.Abs(o.Folder)
	if err != nil {
		return err
	}
	registries := filepath.Join(folder, "hosts")
	if err := os.MkdirAll(registries, 0o755); err != nil {
		return err
	}
	o.Node.Config = fmt.Sprintf(hosts, registries) + o.Node.Config
	o.Node.Network = fmt.Sprintf(network, filepath.Join(folder, "addresses"))
	n, err := node.Start(ctx, o.Node)
	if err != nil {
		return err
	}
	defer func() { retErr = errors.Join(retErr, n.Close()) }()
	address, stop, err := r.attach(n, registries)
	if err != nil {
		return err
	}
	defer func() { retErr = errors.Join(retErr, stop()) }()
	on := served{n, n.CRISocket()}
	if o.OwnPIDs {
		on.socket = filepath.Join(folder, "cri.sock")
		stop, err := ownPIDs(on.socket, n.CRISocket())
		if err != nil {
			return fmt.Errorf("serve CRI at %s: %w", on.socket, err)
		}
		defer func() { retErr = errors.Join(retErr, stop()) }()
	}
	err = do(on, folder, address)
	// Pods of failed tests may be outside the node's cgroup, since suites choose their cgroups.
	cleared, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	err = errors.Join(err, removePods(cleared, n))
	log, logErr := n.Log()
	if logErr == nil {
		logErr = os.WriteFile(filepath.Join(folder, "containerd.log"), []byte(log), 0o644)
	}
	return errors.Join(err, logErr)
}

// run runs a program beside a runtime.
func run(ctx context.Context, on Runtime, folder, program string, args ...string) error {
	out, err := os.Create(filepath.Join(folder, output))
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }() // the program has its own
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := on.Within(cmd.Start); err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	return cmd.Wait()
}

// removePods removes all pods.
func removePods(ctx context.Context, n *node.Node) error {
	pods, err := n.CRI().Pods(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, pod := range pods {
		errs = append(errs, n.CRI().StopPod(ctx, pod.GetId()), n.CRI().RemovePod(ctx, pod.GetId()))
	}
	return errors.Join(errs...)
}
