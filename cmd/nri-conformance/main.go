// SPDX-License-Identifier: Apache-2.0

// Command nri-conformance tests whether a runtime that serves CRI and NRI keeps the
// lifecycle contract for NRI plugins. See docs/conformance.md.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/pause/idle"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

func main() {
	// In a pod this program is the pause program; started by itself, it is the plugin of a case.
	if filepath.Base(os.Args[0]) == "pause" {
		idle.Main()
		return
	}
	if acted, err := plugin.Act(); acted {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGINT, unix.SIGTERM)
	defer stop()
	ended := context.AfterFunc(ctx, func() {
		fmt.Fprintln(os.Stderr, "\nnri-conformance: interrupted: undoing the changes to the node, which may take minutes")
	})
	code := run(ctx, os.Args)
	ended()
	stop()
	os.Exit(code)
}

// run returns the exit code.
func run(ctx context.Context, args []string) (code int) {
	if err := command(&code).Run(ctx, args); err != nil {
		fmt.Fprintln(os.Stderr, "nri-conformance:", err)
		return 2
	}
	return code
}
