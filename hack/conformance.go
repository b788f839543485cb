// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/conformance"
	"github.com/hookline-nri/hookline/conformance/cases"
	"github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
)

// pluginTimeout is the timeout that the node gives plugins: the shortest that suits all cases.
const pluginTimeout = 6 * time.Second

func (a *app) conformance() *cli.Command {
	return &cli.Command{
		Name:      "conformance",
		Usage:     "run the conformance test on a private node (root)",
		UsageText: "go run ./hack conformance [--bin FOLDER] [--report-dir FOLDER] [--repeat N] [--profile NAME]",
		Description: `Starts the containerd of a folder on a private node, with folders, sockets and
namespaces of its own. Runs the cases of nri-conformance on it, one after the other,
writes the reports, and removes the node. Run build and tools before. It fails if a
case fails.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "bin", Usage: "`FOLDER` of containerd and its shim", DefaultText: "bin in the output folder"},
			&cli.StringFlag{Name: "report-dir", Usage: "`FOLDER` for the reports", DefaultText: "conformance in the output folder"},
			&cli.IntFlag{Name: "repeat", Value: 1, Usage: "run each case `N` times"},
			&cli.UintFlag{Name: "seed", Usage: "run the cases in a random order, with this `NUMBER` as its seed"},
			&cli.StringSliceFlag{Name: "profile", Usage: "run only this `PROFILE`"},
			&cli.StringSliceFlag{Name: "case", Usage: "run only the case of this `NAME`"},
			&cli.StringSliceFlag{Name: "rules", Usage: "run only cases of this `RULE`"},
			&cli.DurationFlag{Name: "plugin-timeout", Value: pluginTimeout, Usage: "`TIME` that the node gives plugins for a request"},
			&cli.DurationFlag{Name: "soon", Value: time.Minute, Usage: "`TIME` to wait for an event that should come within moments; less is faster if many cases fail"},
			&cli.BoolFlag{Name: "given-network", Usage: "a node whose pods have their network of a plugin, for the cases of that profile"},
			&cli.BoolFlag{Name: "timelines", Usage: "write traces.otlp.json (Jaeger), traces.chrome.json (Perfetto) and a picture of each case"},
		},
		Before: takes(0, "[--bin FOLDER] [--report-dir FOLDER]"),
		Action: a.runConformance,
	}
}

func (a *app) runConformance(ctx context.Context, cmd *cli.Command) (retErr error) {
	out := cmd.String("output")
	bin := cmp.Or(cmd.String("bin"), filepath.Join(patched(cmd), "bin"))
	command := []string{"go", "run", "./hack", "conformance", "--bin", short(bin)}
	for _, flag := range []string{"profile", "rules", "case"} {
		for _, value := range cmd.StringSlice(flag) {
			command = append(command, "--"+flag, value)
		}
	}
	settings, profiles := fixture.NetworkSettings+fixture.RequiredSettings+fixture.DeviceSettings, cmd.StringSlice("profile")
	if cmd.Bool("given-network") {
		settings, profiles = fixture.GivenNetworkSettings, append(profiles, cases.Given.Name)
		command = append(command, "--given-network")
	}
	for _, flag := range []string{"repeat", "seed", "plugin-timeout", "soon"} {
		if cmd.IsSet(flag) {
			command = append(command, "--"+flag, fmt.Sprint(cmd.Value(flag)))
		}
	}
	folder := cmp.Or(cmd.String("report-dir"), filepath.Join(patched(cmd), "conformance"))
	if err := report.Prepare(folder); err != nil {
		return err
	}
	end := a.progress.Step("start a private node")
	n, err := node.Start(ctx, node.Options{
		Bin: bin, Tools: filepath.Join(out, "tools", "bin"),
		RequestTimeout: cmd.Duration("plugin-timeout"), RegistrationTimeout: cmd.Duration("plugin-timeout"),
		Config: "version = 4\n" + settings,
	})
	end()
	if err != nil {
		return err
	}
	defer func() { retErr = errors.Join(retErr, n.Close()) }()
	cniBin, cniConf := n.CNI()
	r, err := conformance.Run(ctx, conformance.Options{
		CRI: n.CRISocket(), NRI: n.NRISocket(), Image: image.Name, CgroupParent: n.PodCgroup(), Left: n.Leftovers, CNIBin: cniBin, CNIConf: cniConf, CDI: n.CDI(),
		Stop: n.Stop, Kill: n.Kill, Boot: n.Boot,
		Profiles: profiles, Rules: cmd.StringSlice("rules"), Cases: cmd.StringSlice("case"), Repeat: cmd.Int("repeat"), Soon: cmd.Duration("soon"), Seed: uint64(cmd.Uint("seed")),
		Command: command, Version: "of this tree",
		Step: a.progress.Step, Records: cmd.Bool("timelines"),
	})
	if r == nil {
		return err
	}
	if err := errors.Join(err, r.WriteAll(folder, cmd.Bool("timelines"))); err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s %s: %d passed, %d failed, %d unsupported, %d errors; reports in %s\n", r.Runtime.Name, r.Runtime.Version,
		r.Count(report.Passed), r.Count(report.Failed), r.Count(report.Unsupported), r.Count(report.Error), folder)
	if code := r.Exit(); code != 0 {
		return fmt.Errorf("not all cases passed (nri-conformance would exit with code %d)", code)
	}
	return nil
}
