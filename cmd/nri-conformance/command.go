// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/conformance"
	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
)

// command is the whole program. It sets the exit code.
func command(code *int) *cli.Command {
	return &cli.Command{
		Name:  "nri-conformance",
		Usage: "test whether a runtime keeps the lifecycle contract for NRI plugins",
		UsageText: `nri-conformance --runtime-endpoint SOCKET --nri-socket SOCKET [flags]

The exit code is 0 if no case failed, 1 if one did, and 2 for an error of the program itself.
Cases that are unsupported or skipped have not passed: the report lists them apart. The runtime
must have no pods. Run it as root on the node: it starts plugins and inspects processes of pods.`,
		Flags:           flags(),
		HideHelpCommand: true,
		// The reason of a --skip may have commas.
		DisableSliceFlagSeparator: true,
		Version:                   version(),
		Action: func(ctx context.Context, c *cli.Command) error {
			if c.Args().Present() {
				return fmt.Errorf("unexpected arguments %q: it takes only flags", c.Args().Slice())
			}
			switch {
			case c.Bool("list"):
				return listCases(c.Root().Writer)
			case c.String("write-archive") != "":
				return archive(c.String("write-archive"))
			}
			if err := report.Prepare(c.String("report-dir")); err != nil {
				return err
			}
			o := options(c)
			o.Confirm = func(lacks []report.Lack) error { return confirm(ctx, os.Stderr, os.Stdin, lacks, c.Bool("yes")) }
			r, err := conformance.Run(ctx, o)
			if r == nil {
				return err
			}
			if err := errors.Join(err, r.WriteAll(c.String("report-dir"), c.Bool("timelines"))); err != nil {
				return err
			}
			sum(c.Root().Writer, r, c.String("report-dir"))
			*code = r.Exit()
			return nil
		},
	}
}

func flags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "runtime-endpoint", Value: "unix:///run/containerd/containerd.sock", Usage: "`SOCKET` of CRI"},
		&cli.StringFlag{Name: "nri-socket", Value: "/var/run/nri/nri.sock", Usage: "`SOCKET` of NRI"},
		&cli.StringFlag{Name: "runtime-handler", Usage: "runtime handler of pods, by `NAME`"},
		&cli.StringFlag{Name: "report-dir", Value: "nri-conformance", Usage: "`FOLDER` for the reports"},
		&cli.StringSliceFlag{Name: "profile", Usage: "run only this `PROFILE`, or several with commas between them"},
		&cli.StringSliceFlag{Name: "rules", Usage: "run only cases of this `RULE`, or of several"},
		&cli.StringSliceFlag{Name: "case", Usage: "run only the case of this `NAME`, or several"},
		&cli.StringMapFlag{Name: "skip", Usage: "skip a rule or case, for the given reason: `RULE=REASON`"},
		&cli.IntFlag{Name: "repeat", Value: 1, Usage: "run each case `N` times"},
		&cli.UintFlag{Name: "seed", Usage: "run cases in a random order, with this `NUMBER` as its seed; with 0 by profile and name"},
		&cli.DurationFlag{Name: "timeout", Value: 5 * time.Minute, Usage: "`TIME` that one case may take"},
		&cli.DurationFlag{Name: "soon", Value: time.Minute, Usage: "`TIME` to wait for an event that should come within moments; less is faster if many cases fail"},
		&cli.StringFlag{Name: "image", Usage: "`NAME` of an image that the runtime has already; by default it pulls one from this program"},
		&cli.StringFlag{Name: "write-archive", Usage: "write the image to `FILE`, for \"ctr -n k8s.io images import\", and exit"},
		&cli.StringFlag{Name: "cgroup-parent", Usage: "parent `CGROUP` of pods; if empty, the runtime's own"},
		&cli.StringFlag{Name: "cni-state", Value: "/var/lib/cni", Usage: "`FOLDER` of the addresses and attachments of pods"},
		&cli.StringFlag{Name: "cni-bin-dir", Usage: "`FOLDER` of CNI plugins, for the profile network"},
		&cli.StringFlag{Name: "cni-conf-dir", Usage: "`FOLDER` of CNI configurations, which are moved aside while cases of the profile network run"},
		&cli.StringFlag{Name: "cdi-spec-dir", Usage: "`FOLDER` of specifications of CDI devices, which may require plugins on this runtime"},
		&cli.BoolFlag{Name: "must-run", Usage: "the runtime requires plugin " + fixture.RequiredPlugin + " for pods outside of namespace default, and does not show that in its status"},
		&cli.StringFlag{Name: "stop-command", Usage: "shell `COMMAND` that stops the runtime, but not its pods"},
		&cli.StringFlag{Name: "kill-command", Usage: "shell `COMMAND` that kills the runtime"},
		&cli.StringFlag{Name: "start-command", Usage: "shell `COMMAND` that starts the runtime"},
		&cli.BoolFlag{Name: "timelines", Usage: "write traces.otlp.json (Jaeger), traces.chrome.json (Perfetto) and a picture of each case"},
		&cli.BoolFlag{Name: "yes", Usage: "do not ask whether to go on if some cases cannot run; without a terminal it never asks"},
		&cli.BoolFlag{Name: "list", Usage: "list profiles and cases, and exit"},
	}
}

func options(c *cli.Command) conformance.Options {
	return conformance.Options{
		CRI:     strings.TrimPrefix(c.String("runtime-endpoint"), "unix://"),
		NRI:     strings.TrimPrefix(c.String("nri-socket"), "unix://"),
		Handler: c.String("runtime-handler"), CgroupParent: c.String("cgroup-parent"),
		Image: c.String("image"), State: c.String("cni-state"),
		CNIBin: c.String("cni-bin-dir"), CNIConf: c.String("cni-conf-dir"), CDI: c.String("cdi-spec-dir"), MustRun: c.Bool("must-run"),
		Stop: shell(c.String("stop-command")), Kill: shell(c.String("kill-command")), Boot: shell(c.String("start-command")),
		Profiles: list(c, "profile"), Rules: list(c, "rules"), Cases: list(c, "case"),
		Skip: c.StringMap("skip"), Repeat: c.Int("repeat"), Seed: uint64(c.Uint("seed")), Timeout: c.Duration("timeout"), Soon: c.Duration("soon"),
		Command: os.Args, Version: version(), Records: c.Bool("timelines"),
		Step: func(what string) func() {
			start := time.Now()
			fmt.Fprintf(os.Stderr, "%s ... ", what)
			return func() { fmt.Fprintf(os.Stderr, "%.1f s\n", time.Since(start).Seconds()) }
		},
	}
}

// shell returns a function that runs a command of the operator.
func shell(text string) func(context.Context) error {
	if text == "" {
		return nil
	}
	return func(ctx context.Context) error {
		// A runtime that was started in the background keeps the output open, and may write
		// to it as long as it runs: that would fail on a pipe without a reader.
		out, err := os.CreateTemp("", "nri-conformance-")
		if err != nil {
			return err
		}
		defer func() { _ = errors.Join(out.Close(), os.Remove(out.Name())) }()
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", text)
		cmd.Stdout, cmd.Stderr = out, out
		if err := cmd.Run(); err != nil {
			said, _ := os.ReadFile(out.Name())
			return fmt.Errorf("%s: %w: %s", text, err, strings.TrimSpace(string(said)))
		}
		return nil
	}
}

func archive(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := conformance.WriteArchive(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}

// list returns the values of a flag, which may have several values with commas between them.
func list(c *cli.Command, flag string) (all []string) {
	for _, value := range c.StringSlice(flag) {
		all = append(all, strings.Split(value, ",")...)
	}
	return all
}

func listCases(w io.Writer) error {
	for _, p := range cases.Profiles() {
		fmt.Fprintf(w, "%s: %s\n", p.Name, p.About)
		for _, c := range p.Cases() {
			fmt.Fprintf(w, "  %s\n", c.Name)
		}
	}
	return nil
}

// sum prints the results in a few lines: why cases did not run, the failed ones, and the profiles.
func sum(w io.Writer, r *report.Report, folder string) {
	if len(r.Lacks) > 0 {
		fmt.Fprintln(w, "Some cases did not run:")
		listLacks(w, r.Lacks)
	}
	for _, p := range r.Profiles {
		for _, c := range r.Of(p.Name) {
			if c.Verdict == report.Failed || c.Verdict == report.Error {
				fmt.Fprintf(w, "%-10s %s\n", c.Verdict, c.Name)
			}
		}
	}
	for _, p := range r.Profiles {
		fmt.Fprintf(w, "%-10s %-12s", p.Name, p.Verdict)
		for _, v := range []report.Verdict{report.Failed, report.Error, report.Passed, report.Skipped, report.Unsupported} {
			if n := p.Count[v]; n > 0 {
				fmt.Fprintf(w, " %d %s", n, v)
			}
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s %s: %d passed, %d failed; reports in %s\n", r.Runtime.Name, r.Runtime.Version, r.Count(report.Passed), r.Count(report.Failed), folder)
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "devel"
	}
	return info.Main.Version
}
