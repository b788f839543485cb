// SPDX-License-Identifier: Apache-2.0

package critest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/integration/node"
)

// Options are for a run on one runtime.
type Options struct {
	Node    node.Options // Bin and Tools
	Program string       // critest
	Folder  string       // for what it prints and reports; made anew
	Focus   []string     // regular expressions for the names of tests; all where empty
}

// Results has what came of each test, by its name: passed, failed, skipped, or another state of
// ginkgo's.
type Results map[string]string

// network is the node's own with portmap, which some tests need.
const network = `{
  "cniVersion": "1.0.0",
  "name": "critest",
  "plugins": [
    {"type": "ptp", "ipMasq": false, "ipam": {
      "type": "host-local", "ranges": [[{"subnet": "10.88.0.0/21"}]], "routes": [{"dst": "0.0.0.0/0"}], "dataDir": %q
    }},
    {"type": "portmap", "snat": true, "capabilities": {"portMappings": true}}
  ]
}`

// Run runs critest on a node of its own. Tests that fail are no error.
func (r Registry) Run(ctx context.Context, o Options) (_ Results, retErr error) {
	if err := os.RemoveAll(o.Folder); err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(o.Folder)
	if err != nil {
		return nil, err
	}
	registries := filepath.Join(folder, "hosts")
	if err := os.MkdirAll(registries, 0o755); err != nil {
		return nil, err
	}
	o.Node.Config = fmt.Sprintf(hosts, registries)
	o.Node.Network = fmt.Sprintf(network, filepath.Join(folder, "addresses"))
	n, err := node.Start(ctx, o.Node)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, n.Close()) }()
	stop, err := r.attach(n, registries)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, stop()) }()
	results, err := run(ctx, n, o.Program, folder, o.Focus)
	// Pods of tests that failed are outside of the node's cgroup, since critest chooses theirs.
	cleared, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	err = errors.Join(err, removePods(cleared, n))
	log, logErr := n.Log()
	if logErr == nil {
		logErr = os.WriteFile(filepath.Join(folder, "containerd.log"), []byte(log), 0o644)
	}
	return results, errors.Join(err, logErr)
}

// run runs critest inside of the node's namespaces, and reads its report.
func run(ctx context.Context, n *node.Node, program, folder string, focus []string) (Results, error) {
	report := filepath.Join(folder, "report.json")
	args := []string{
		"-runtime-endpoint=unix://" + n.CRISocket(), "-config=/dev/null",
		"-ginkgo.json-report=" + report, "-ginkgo.no-color", "-ginkgo.seed=1",
	}
	for _, f := range focus {
		args = append(args, "-ginkgo.focus="+f)
	}
	output, err := os.Create(filepath.Join(folder, "output.txt"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = output.Close() }() // it is for people
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, output, output
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := n.Within(cmd.Start); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	defer stop()
	ended := cmd.Wait() // an error if a test failed, which the report has
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	results, err := read(report)
	if err != nil {
		return nil, fmt.Errorf("critest (%v, output in %s): %w", ended, output.Name(), err)
	}
	return results, nil
}

// suiteReport are the parts of ginkgo's report that are used.
type suiteReport struct {
	SpecReports []struct {
		ContainerHierarchyTexts []string
		LeafNodeType            string
		LeafNodeText            string
		State                   string
	}
}

// read reads a report of ginkgo's. A report without a test that ran is an error.
func read(file string) (Results, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var suites []suiteReport
	if err := json.Unmarshal(content, &suites); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	results, ran := Results{}, false
	for _, s := range suites {
		for _, spec := range s.SpecReports {
			if spec.LeafNodeType != "It" {
				if spec.State != "passed" {
					return nil, fmt.Errorf("%s of critest: %s", spec.LeafNodeType, spec.State)
				}
				continue
			}
			results[strings.Join(append(slices.Clone(spec.ContainerHierarchyTexts), spec.LeafNodeText), " ")] = spec.State
			ran = ran || spec.State != "skipped"
		}
	}
	if !ran {
		return nil, fmt.Errorf("%s: no test ran", file)
	}
	return results, nil
}

// removePods removes all pods.
func removePods(ctx context.Context, n *node.Node) error {
	pods, err := n.CRI().Runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
	if err != nil {
		return err
	}
	var errs []error
	for _, pod := range pods.GetItems() {
		errs = append(errs, n.CRI().StopPod(ctx, pod.GetId()), n.CRI().RemovePod(ctx, pod.GetId()))
	}
	return errors.Join(errs...)
}
