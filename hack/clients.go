// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/integration/clients"
	"github.com/hookline-nri/hookline/integration/suites"
	"github.com/hookline-nri/hookline/testkit/node"
)

// clientTests is the package of the flows of clients.
const clientTests = "./integration/clients"

func (a *app) clients() *cli.Command {
	return &cli.Command{
		Name:      "clients",
		Usage:     "run docker, nerdctl, crictl and ctr on stock and on hookline (root)",
		UsageText: "go run ./hack clients [--flow NAME]... [--write FILE]",
		Description: `Builds nerdctl and crictl from their modules, takes docker and its daemon from the
package docker.io, and ctr from the build of containerd. Runs the flows of
integration/clients on private nodes of each runtime: lives of containers, and kills
of containerd, dockerd and shims. Compares exit codes, states, events and leftovers.
It fails if a flow passes on stock alone, or if its results differ in two runs and it
names no improvement.

The output of the tests is in clients in the output folder. Run build, build --stock
and tools before.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "flow", Usage: "run only the flow of this `NAME`, such as TestDocker/life"},
			&cli.StringFlag{Name: "write", Usage: "record the results in this `FILE`"},
		},
		Before: takes(0, "[--flow NAME]... [--write FILE]"),
		Action: a.runClients,
	}
}

// clientRun has the programs that the flows are run with.
type clientRun struct {
	root, out, tools, programs, image string
	runtimes                          map[string]string // folder of containerd, by side
}

// flows are the results of the flows on a side.
type flows struct {
	results  suites.Results
	observed map[string][]step
}

func (a *app) runClients(ctx context.Context, cmd *cli.Command) error {
	r, err := a.makeClients(ctx, cmd)
	if err != nil {
		return err
	}
	seen := map[string]flows{}
	for _, side := range sides {
		end := a.progress.Step("clients on " + side)
		seen[side], err = a.runFlows(ctx, r, side, side, cmd.StringSlice("flow"))
		end()
		if err != nil {
			return err
		}
	}
	if doubted := differing(seen["stock"], seen["hookline"]); len(doubted) > 0 {
		end := a.progress.Step("once more on both: " + strings.Join(doubted, ", "))
		for _, side := range sides {
			again, err := a.runFlows(ctx, r, side, side+"-again", doubted)
			if err != nil {
				return err
			}
			maps.Copy(seen[side].results, again.results)
			maps.Copy(seen[side].observed, again.observed)
		}
		end()
	}
	for _, side := range sides {
		r := seen[side].results
		fmt.Fprintf(a.stdout, "%s: %d flows passed, %d failed\n", side, r.Count("passed"), r.Count("failed"))
		for _, name := range slices.Sorted(maps.Keys(r)) {
			if r[name].State != "passed" {
				fmt.Fprintf(a.stdout, "  %s %s\n", name, r[name].State)
			}
		}
	}
	if file := cmd.String("write"); file != "" {
		if err := writeClients(ctx, file, r, seen); err != nil {
			return err
		}
	}
	return differs(r.out, seen)
}

// differs fails if flows differ without a named improvement, or pass on stock alone.
func differs(out string, seen map[string]flows) error {
	var said []string
	for _, name := range differing(seen["stock"], seen["hookline"]) {
		said = append(said, fmt.Sprintf("%s: %s on stock, %s on hookline", name, seen["stock"].results[name].State, seen["hookline"].results[name].State))
		for _, d := range compare(seen["stock"].observed[name], seen["hookline"].observed[name]) {
			if d.why == "" {
				said = append(said, "  stock:    "+d.stock, "  hookline: "+d.hookline)
			}
		}
	}
	if len(said) == 0 {
		return nil
	}
	return fmt.Errorf("these flows of clients differ, see %s:\n%s", short(out), strings.Join(said, "\n"))
}

// makeClients builds the programs, and the image of containers.
func (a *app) makeClients(ctx context.Context, cmd *cli.Command) (r clientRun, err error) {
	absolute := func(elem ...string) string {
		path, absErr := filepath.Abs(filepath.Join(elem...))
		err = errors.Join(err, absErr)
		return path
	}
	output := cmd.String("output")
	r = clientRun{
		root: a.root,
		out:  absolute(output, "clients"), tools: absolute(output, "tools", "bin"),
		programs: absolute(output, "tools", "clients"), image: absolute(output, "clients", "busybox.tar"),
		runtimes: map[string]string{"stock": absolute(built(cmd), "stock", "bin"), "hookline": absolute(patched(cmd), "bin")},
	}
	if err != nil {
		return r, err
	}
	for _, side := range sides {
		if err := (node.Options{Bin: r.runtimes[side], Tools: r.tools}).Check(); err != nil {
			return r, err
		}
	}
	if err := clients.Check(); err != nil {
		return r, err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return r, err
	}
	if err := a.buildClients(ctx, r); err != nil {
		return r, err
	}
	defer a.progress.Step("make images")()
	programs, err := suites.Make(ctx, filepath.Join(output, "suites"))
	if err != nil {
		return r, err
	}
	return r, suites.WriteBusybox(r.image, programs)
}

// runFlows runs the named flows on a side, or all of them if none is named.
func (a *app) runFlows(ctx context.Context, r clientRun, side, file string, names []string) (flows, error) {
	f := flows{observed: map[string][]step{}}
	args := []string{"-parallel=4", "-timeout=30m"}
	if len(names) > 0 {
		args = append(args, "-run="+pattern(names))
	}
	env := []string{"RUNTIME=" + side, "CONTAINERD=" + r.runtimes[side], "TOOLS=" + r.tools, "CLIENTS=" + r.programs, "IMAGE=" + r.image}
	var err error
	if f.results, err = a.goTest(ctx, filepath.Join(r.out, file+".json"), env, append(args, clientTests), f.read); err != nil {
		return f, err
	}
	maps.DeleteFunc(f.results, func(name string, _ suites.Result) bool { return !strings.Contains(name, "/") }) // these are made of flows
	return f, nil
}

// pattern returns the pattern for tests of these names, each with one slash.
func pattern(names []string) string {
	var clients, flows []string
	for _, name := range names {
		client, flow, _ := strings.Cut(name, "/")
		clients, flows = append(clients, client), append(flows, flow)
	}
	slices.Sort(clients)
	return "^(" + strings.Join(slices.Compact(clients), "|") + ")$/^(" + strings.Join(flows, "|") + ")$"
}
