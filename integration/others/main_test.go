// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
)

const output = "../../_output"

// programs is the folder of the plugins. Without it nothing runs: only the command that builds them
// and compares the runtimes can interpret the results.
var programs = os.Getenv("HOOKLINE_PLUGINS")

// pause is the program for the image, built once.
var pause string

func TestMain(m *testing.M) {
	if programs == "" {
		fmt.Println("`make plugins` runs the tests of other plugins")
		return
	}
	if err := options().Check(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(image.RunTests(m, &pause))
}

// options returns the options of all nodes. Plugins have more time than by default, since their
// speed is not tested here.
func options() node.Options {
	bin := filepath.Join(output, "bin")
	if os.Getenv("RUNTIME") == "stock" {
		bin = filepath.Join(output, "stock", "bin")
	}
	return node.Options{
		Bin: bin, Tools: filepath.Join(output, "tools", "bin"), Pause: pause,
		RequestTimeout: 30 * time.Second, RegistrationTimeout: 10 * time.Second,
	}
}

// startNode runs a node for one test. Its log is kept beside the output of the plugin.
func startNode(ctx context.Context, t *testing.T) *node.Node {
	t.Helper()
	n, err := node.Start(ctx, options())
	require.NoError(t, err)
	t.Cleanup(func() {
		log, err := n.Log()
		if err == nil {
			err = os.WriteFile(filepath.Join(kept(t), "containerd.log"), []byte(log), 0o644)
		}
		if err := errors.Join(err, n.Close()); err != nil {
			t.Errorf("close node: %v", err)
		}
	})
	return n
}

// kept is the folder of a test's logs.
func kept(t *testing.T) string {
	t.Helper()
	runtime := "hookline"
	if os.Getenv("RUNTIME") == "stock" {
		runtime = "stock"
	}
	folder, err := filepath.Abs(filepath.Join(output, "plugins", runtime, filepath.Base(t.Name())))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(folder, 0o755))
	return folder
}
