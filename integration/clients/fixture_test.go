// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/suites"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
)

// Variables with the paths of programs.
const (
	containerd = "CONTAINERD" // folder of containerd, its shim and ctr
	tools      = "TOOLS"      // folder of runc and the CNI plugins
	programs   = "CLIENTS"    // folder of nerdctl and crictl
	archive    = "IMAGE"      // the archive that suites.WriteBusybox writes
)

// busybox is the image of containers.
const busybox = suites.Busybox

// runsOnStock says whether CONTAINERD is stock.
var runsOnStock = os.Getenv("RUNTIME") == "stock"

var pause string // the program of pods

func TestMain(m *testing.M) {
	for _, name := range []string{containerd, tools, programs, archive, "RUNTIME"} {
		if os.Getenv(name) == "" {
			fmt.Fprintf(os.Stderr, "%s is not set: make clients runs these tests\n", name)
			os.Exit(1)
		}
	}
	os.Exit(image.RunTests(m, &pause))
}

// patience is how long a command, or its effect, may take.
const patience = time.Minute

func within(t *testing.T, limit time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	t.Cleanup(cancel)
	return ctx
}

// startNode starts a node with a folder of its own for the files of clients and shims in
// /run/containerd.
func startNode(t *testing.T) *node.Node {
	t.Helper()
	n, err := node.Start(within(t, patience), node.Options{Bin: os.Getenv(containerd), Tools: os.Getenv(tools), Pause: pause})
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			log, err := n.Log()
			t.Logf("containerd's log (%v):\n%s", err, log[max(0, len(log)-8000):])
		}
		require.NoError(t, n.Close())
	})
	require.NoError(t, n.Cover(runs, "run"))
	return n
}

// runs is where ctr, nerdctl and shims keep fifos and runc's state.
const runs = "/run/containerd"
