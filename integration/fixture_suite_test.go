// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// output holds what was built; tests run in their own folder.
const output = "../_output"

// built holds the binaries of the version upstream that TARGET names, by default that of
// go.mod.
var built = filepath.Join(output, ofTarget(os.Getenv("TARGET")))

func ofTarget(version string) string {
	if version == "" {
		return ""
	}
	return filepath.Join("targets", version)
}

// countFrom is the number that a variable sets, for the figures of docs/performance.md, or
// the one with which the test is quick.
func countFrom(t *testing.T, variable string, quick int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return quick
	}
	count, err := strconv.Atoi(text)
	require.NoError(t, err, variable)
	return count
}

// runsOnStock tells that the tests run on the unpatched containerd.
var runsOnStock = os.Getenv("RUNTIME") == "stock"

// pause is the program for the image, built once.
var pause string

func TestMain(m *testing.M) {
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
	if runsOnStock {
		fixture.Soon = 10 * time.Second
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if pause = os.Getenv(leave); pause != "" {
		return 1, leaveANode()
	}
	if err := binaries().Check(); err != nil {
		if os.Getenv("CI") == "" {
			fmt.Println("integration tests are skipped:", err)
			return 0, nil
		}
		return 1, err
	}
	code = image.RunTests(m, &pause)
	if runsOnStock {
		broken.print(os.Stdout)
	}
	return code, nil
}

// binaries are the options that all nodes have.
func binaries() node.Options {
	bin := filepath.Join(built, "bin")
	if runsOnStock {
		bin = filepath.Join(built, "stock", "bin")
	}
	return node.Options{Bin: bin, Tools: filepath.Join(output, "tools", "bin"), Pause: pause}
}

// startNode runs a node for one test. What the host turns out to lack skips
// the test at home, and fails it in CI.
func startNode(t *testing.T, change ...func(*node.Options)) *node.Node {
	t.Helper()
	options := binaries()
	for _, f := range change {
		f(&options)
	}
	n, err := node.Start(withinAMinute(t), options)
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
