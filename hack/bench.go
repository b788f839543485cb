// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/integration/bench"
	"github.com/hookline-nri/hookline/integration/peers"
	"github.com/hookline-nri/hookline/testkit/node"
)

func (a *app) bench() *cli.Command {
	counts := bench.DefaultCounts
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure stock and patched containerd side by side (root)",
		UsageText: "go run ./hack bench [--only SCENARIO]...",
		Description: `Both run on private nodes at the same time and take turns. The result is a Markdown
table with the statistics of benchstat: medians with their 95 % confidence
intervals, the ratio of patched to stock, the p-value ("~" if it is above 0.05: no
difference was found) with the number n of measurements, and whether the goal was
met. A missed goal is not a failure.

The measurements go to bench.txt in the output folder, in the format of
go test -bench:

  go tool benchstat -col /runtime _output/bench.txt   compares the two
  go tool benchstat old.txt _output/bench.txt         compares with an earlier run

Scenarios:
  life       each CRI call in the life of a pod with one container, without plugins
  where      where the time of these calls goes: the duration of each program that they start, and how much
             of it is computing, waiting for the disk, and the rest; one pod alone and eight at a time (perf)
  shim       size, start and memory of the shim
  memory     memory of containerd for each pod, and of a pod's shim
  resources  RunPodSandbox with the resources of 20 containers, and without
  rate       pods per second, without plugins and with slow ones
  sandboxes  pods without a pause container: calls, pods per second and memory, beside stock's pods with one;
             with --crio also beside those of CRI-O's default
  neighbour  a container's life while another pod's hook takes long
  hung       StopPodSandbox with plugins that hang
  register   registration of a plugin on a full and busy node
  flap       ten plugins connect to a full node at once, and five of them again and again:
             slowest connection and RunPodSandbox, memory and goroutines before and after
  missed     the end of a pod whose plugin is connected, and of one whose plugin is disconnected
  stores     memory and files of what hookline keeps beside stock, at the limits: 110 pods and ten plugins
  engine     the engine alone, from go test -bench

Run build, build --stock and tools before. --stock names another folder of stock
binaries than that of build --stock, such as those of upstream's own Makefile.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "only", Usage: "measure only this `SCENARIO`; may be repeated", DefaultText: "all"},
			&cli.StringFlag{Name: "stock", Usage: "`FOLDER` of the stock containerd and its shim", DefaultText: "stock/bin in the output folder"},
			&cli.BoolFlag{Name: "without-pause", Usage: "let the pods of the patched one have no pause container in all scenarios"},
			&cli.BoolFlag{Name: "crio", Usage: "build CRI-O for the scenario sandboxes (the package conmon)"},
			&cli.IntFlag{Name: "runs", Usage: "`NUMBER` of pods of each runtime in life, sandboxes and shim, and of each kind in resources and missed", Value: counts.Runs, Destination: &counts.Runs},
			&cli.IntFlag{Name: "pods", Usage: "`NUMBER` of pods in a round of rate and sandboxes", Value: counts.Pods, Destination: &counts.Pods},
			&cli.IntFlag{Name: "rounds", Usage: "`NUMBER` of rounds in where, memory, rate, sandboxes, neighbour, hung, register and flap", Value: counts.Rounds, Destination: &counts.Rounds},
			&cli.IntFlag{Name: "node-pods", Usage: "`NUMBER` of pods on the node in register and flap", Value: counts.NodePods, Destination: &counts.NodePods},
		},
		Before: takes(0, "[--only SCENARIO]..."),
		Action: func(ctx context.Context, cmd *cli.Command) error { return a.runBench(ctx, cmd, counts) },
	}
}

// runBench measures, and shows all results that it got, even after an error.
func (a *app) runBench(ctx context.Context, cmd *cli.Command, counts bench.Counts) error {
	out := cmd.String("output")
	tools := filepath.Join(out, "tools", "bin")
	stock := filepath.Join(built(cmd), "stock", "bin")
	if cmd.IsSet("stock") {
		stock = cmd.String("stock")
	}
	options := bench.Options{
		Stock:   node.Options{Bin: stock, Tools: tools},
		Patched: node.Options{Bin: filepath.Join(patched(cmd), "bin"), Tools: tools, WithoutPause: cmd.Bool("without-pause")},
		Only:    cmd.StringSlice("only"),
		Counts:  counts,
		Engine:  a.benchEngine,
		Step:    a.progress.Step,
	}
	if cmd.Bool("crio") {
		var err error
		if options.CRIO, err = a.benchCRIO(ctx, cmd); err != nil {
			return err
		}
	}
	var where []bench.Breakdown
	options.Where = func(found []bench.Breakdown) { where = found }
	machine := machine() // before the benchmark loads it
	rows, err := bench.Run(ctx, options)
	if len(rows) == 0 {
		return err
	}
	err = errors.Join(err, writeResults(filepath.Join(out, "bench.txt"), rows))
	for _, side := range []struct{ name, bin string }{{"Stock", options.Stock.Bin}, {"Patched", options.Patched.Bin}} {
		fmt.Fprintf(a.stdout, "%s: %s\n", side.name, version(side.bin))
	}
	fmt.Fprintf(a.stdout, "Machine: %s\n\n", machine)
	err = errors.Join(bench.Table(a.stdout, rows), err)
	if len(where) > 0 {
		fmt.Fprintln(a.stdout)
		err = errors.Join(err, bench.WhereTable(a.stdout, where))
	}
	return err
}

// benchCRIO builds CRI-O as its module pins it, and the image of its pods.
func (a *app) benchCRIO(ctx context.Context, cmd *cli.Command) (*peers.CRIOOptions, error) {
	out, err := filepath.Abs(filepath.Join(cmd.String("output"), "peers"))
	if err != nil {
		return nil, err
	}
	if err := a.buildPeers(ctx, cmd, []string{"crio"}, out); err != nil {
		return nil, err
	}
	registry, err := a.critestImages(ctx, filepath.Join(cmd.String("output"), "suites"))
	return &peers.CRIOOptions{
		Bin: filepath.Join(out, "crio", peerSides[0]), Tools: filepath.Join(cmd.String("output"), "tools", "bin"), Images: registry,
	}, err
}

// writeResults writes the measurements.
func writeResults(file string, rows []bench.Row) error {
	var b bytes.Buffer
	if err := bench.Write(&b, rows); err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// benchEngine runs the benchmarks of the engine, each a few times.
func (a *app) benchEngine(ctx context.Context) ([]byte, error) {
	test := exec.CommandContext(ctx, "go", "test", "-run=^$", "-bench=.", "-benchmem", "-benchtime=200ms", "-count=6", "./internal/nri/lifecycle")
	test.Dir = a.root
	test.Cancel = func() error { return test.Process.Signal(os.Interrupt) } // go test passes it on
	test.WaitDelay = 5 * time.Second
	out, err := test.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("benchmarks of the engine: %w\n%s", err, out)
	}
	return out, err
}

// version returns the output of containerd --version.
func version(bin string) string {
	said, err := exec.Command(filepath.Join(bin, "containerd"), "--version").Output()
	if err != nil {
		return "unknown: " + err.Error()
	}
	return strings.TrimSpace(string(said))
}
