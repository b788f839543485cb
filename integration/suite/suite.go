// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// output holds what was built; tests run in their own folder.
const output = "../../_output"

// Built holds the binaries of the version upstream that TARGET names, by default that of
// go.mod.
var Built = filepath.Join(output, ofTarget(os.Getenv("TARGET")))

func ofTarget(version string) string {
	if version == "" {
		return ""
	}
	return filepath.Join("targets", version)
}

// CountFrom is the number that a variable sets, for the figures of docs/performance.md, or
// the one with which the test is quick.
func CountFrom(t *testing.T, variable string, quick int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return quick
	}
	count, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return count
}

// RunsOnStock tells that the tests run on the unpatched containerd.
var RunsOnStock = os.Getenv("RUNTIME") == "stock"

// Pause is the program for the image, built once.
var Pause string

// Main runs the tests of a package, and is what these make of their program: a plugin in a
// process of its own, one that the runtime launches, or a node that is left behind.
func Main(m *testing.M) {
	if acted, err := plugin.Act(); acted {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(api.PluginSocketEnvVar) != "" {
		if err := asPlugin(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if RunsOnStock {
		Soon = 10 * time.Second
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if Pause = os.Getenv(LeaveANode); Pause != "" {
		return 1, leaveANode()
	}
	if err := Binaries().Check(); err != nil {
		if os.Getenv("CI") == "" {
			fmt.Println("integration tests are skipped:", err)
			return 0, nil
		}
		return 1, err
	}
	code = image.RunTests(m, &Pause)
	if RunsOnStock {
		return code, listBroken()
	}
	return code, nil
}

// listBroken prints what stock breaks, and keeps it: go test of several packages shows
// nothing that one prints which passes.
func listBroken() error {
	subject, err := os.Getwd()
	if err != nil {
		return err
	}
	kept := filepath.Join(output, "broken", filepath.Base(subject))
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		return err
	}
	file, err := os.Create(kept)
	if err != nil {
		return err
	}
	broken.print(io.MultiWriter(os.Stdout, file))
	return file.Close()
}

// Binaries are the options that all nodes have.
func Binaries() node.Options {
	bin := filepath.Join(Built, "bin")
	if RunsOnStock {
		bin = filepath.Join(Built, "stock", "bin")
	}
	return node.Options{Bin: bin, Tools: filepath.Join(output, "tools", "bin"), Pause: Pause}
}

// StartNode runs a node for one test. What the host turns out to lack skips
// the test at home, and fails it in CI.
func StartNode(t *testing.T, change ...func(*node.Options)) *node.Node {
	t.Helper()
	options := Binaries()
	for _, f := range change {
		f(&options)
	}
	n, err := node.Start(WithinAMinute(t), options)
	if errors.Is(err, node.ErrPrerequisite) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			showLog(t, n)
		}
		if err := n.Close(); err != nil {
			t.Errorf("close node: %v", err)
		}
	})
	return n
}

// showLog shows the end of containerd's log, and keeps all of it.
func showLog(t *testing.T, n *node.Node) {
	log, err := n.Log()
	if err != nil {
		t.Logf("no log of containerd: %v", err)
		return
	}
	kept := filepath.Join(output, "logs", t.Name()+".log")
	err = os.MkdirAll(filepath.Dir(kept), 0o755)
	if err == nil {
		err = os.WriteFile(kept, []byte(log), 0o644)
	}
	const last = 30
	lines := strings.Split(strings.TrimSpace(log), "\n")
	t.Logf("the end of containerd's log, all of it in %s (%v):\n%s", kept, err, strings.Join(lines[max(0, len(lines)-last):], "\n"))
}
