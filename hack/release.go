// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/internal/archive"
	"github.com/hookline-nri/hookline/internal/release"
	"github.com/hookline-nri/hookline/internal/tree"
)

// A releaser describes what a release has beyond a build for this machine.
type releaser struct {
	commands []tree.Command    // that upstream's archives have, besides those of the product
	cross    map[string]string // C compiler for an architecture that is not this machine's
	starts   []release.Start   // of binaries, before they are packed
	// installer is the module of the program that puts a release on a node; none if empty.
	installer string
}

func (a *app) release() *cli.Command {
	return &cli.Command{
		Name:      "release",
		Usage:     "make archives to install, with checksums and SBOM",
		UsageText: "go run ./hack release [--arch ARCH]... [--conformance] [--twice]",
		Description: `Builds for linux/amd64 and linux/arm64 and writes to release/VERSION of the output
folder: for each architecture an archive with the layout of containerd's own static
releases, its checksum and an SBOM (SPDX 2.3), and the program that puts it on a node; and once the series as files for git am,
and the modules, commits and compilers that the release is made of. For another
architecture than that of this machine it needs its C compiler
(gcc-aarch64-linux-gnu, libc6-dev-arm64-cross), and QEMU to start the binaries
(qemu-user). --conformance adds the report.json that hack conformance wrote, which must
be of that version and without a failed case. --twice makes the release again in
another folder with an empty build cache, and compares the two byte by byte.`,
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "arch", Usage: "build for `ARCH`", Value: []string{"amd64", "arm64"}},
			&cli.BoolFlag{Name: "conformance", Usage: "add the report of the conformance test"},
			&cli.BoolFlag{Name: "twice", Usage: "make it a second time and compare"},
		},
		Before: takes(0, "[--arch ARCH]... [--conformance] [--twice]"),
		Action: a.in(func(ctx context.Context, cmd *cli.Command, w *tree.Workspace) error {
			archs, reports := cmd.StringSlice("arch"), ""
			if cmd.Bool("conformance") {
				reports = filepath.Join(patched(cmd), "conformance")
			}
			dir, err := a.makeRelease(ctx, w, archs, reports)
			if err != nil {
				return err
			}
			if cmd.Bool("twice") {
				if err := a.again(ctx, w, dir, archs, reports); err != nil {
					return err
				}
			}
			sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(a.stdout, "%s:\n%s", short(dir), sums)
			return err
		}),
	}
}

// makeRelease makes a release from a workspace, with the reports of a folder if there is one,
// and returns its folder.
func (a *app) makeRelease(ctx context.Context, w *tree.Workspace, archs []string, reports string) (string, error) {
	head, err := w.Head(ctx)
	if err != nil {
		return "", err
	}
	if head.Modified {
		return "", fmt.Errorf("%s has changes that are not committed: a release is made of one commit", a.root)
	}
	reported, err := readReport(reports)
	if err != nil {
		return "", err
	}
	compilers := map[string]string{}
	runners := map[string][]string{}
	for _, arch := range archs {
		if compilers[arch], err = a.compiler(arch); err != nil {
			return "", err
		}
		if runners[arch], err = release.Runner(arch); err != nil {
			return "", err
		}
	}
	trees, err := w.Apply(ctx)
	if err != nil {
		return "", err
	}
	origin := origin(head, trees)
	if origin.Go, err = w.Go(ctx, trees[len(trees)-1]); err != nil {
		return "", err
	}
	product := a.product
	product.Commands = append(slices.Clone(product.Commands), a.releaser.commands...)
	var builds []release.Build
	for _, arch := range archs {
		b := release.Build{Dir: filepath.Join(w.Out, "release", "linux-"+arch)}
		if b.Compiler, err = release.AskCompiler(ctx, arch, compilers[arch]); err != nil {
			return "", err
		}
		origin.Version, _, err = w.BuildFor(ctx, trees, product, a.config.build, tree.Platform{Arch: arch, CC: compilers[arch]}, b.Dir)
		if err != nil {
			return "", err
		}
		end := a.progress.Step("start the binaries for linux/" + arch)
		err := release.Run(ctx, runners[arch], b.Dir, said(a.releaser.starts, origin))
		end()
		if err != nil {
			return "", err
		}
		if a.releaser.installer != "" {
			if b.Program, err = a.installerFor(ctx, w, arch, origin.Version, runners[arch]); err != nil {
				return "", err
			}
		}
		builds = append(builds, b)
	}
	evidence := a.alertFiles()
	if reported != nil {
		if of := reported.Runtime; of.Version != origin.Version {
			return "", fmt.Errorf("the report in %s is of %s %s, not of %s", reports, of.Name, of.Version, origin.Version)
		}
		evidence = append(evidence, archive.File{Name: "conformance.json", Mode: 0o644, From: filepath.Join(reports, "report.json")})
	}
	series, err := w.Temp("series")
	if err != nil {
		return "", err
	}
	if _, err := w.Export(ctx, trees, series, ""); err != nil {
		return "", err
	}
	made, err := w.Temp("release")
	if err != nil {
		return "", err
	}
	defer a.progress.Step("pack " + origin.Version)()
	if err := release.Write(made, origin, builds, programs(product), series, evidence...); err != nil {
		return "", err
	}
	dir := filepath.Join(w.Out, "release", origin.Version)
	return dir, tree.ReplaceFolder(made, dir)
}

// installerFor builds the installer of a release, and starts it.
func (a *app) installerFor(ctx context.Context, w *tree.Workspace, arch, version string, runner []string) (string, error) {
	dir := filepath.Join(w.Out, "release", "installer-linux-"+arch)
	program, err := a.buildInstaller(ctx, arch, version, dir, w.BuildCache)
	if err != nil {
		return "", err
	}
	start := release.Start{Args: []string{filepath.Base(program), "--version"}, Says: []string{version}}
	return program, release.Run(ctx, runner, dir, []release.Start{start})
}

// alertFiles are the rules for Prometheus and the dashboard for Grafana, as files of a release.
func (a *app) alertFiles() (files []archive.File) {
	if a.pages.Alerts == "" {
		return nil
	}
	for _, name := range []string{"alerts.yaml", "dashboard.json"} {
		files = append(files, archive.File{Name: name, Mode: 0o644, From: filepath.Join(a.root, a.pages.Alerts, name)})
	}
	return files
}

// again makes a release a second time, without using the first, and compares the two.
func (a *app) again(ctx context.Context, w *tree.Workspace, dir string, archs []string, reports string) (err error) {
	out, err := w.Temp("again")
	if err != nil {
		return err
	}
	second, err := tree.Open(a.series, a.root, filepath.Join(out, "other", "place"), "release", a.progress.Step)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, second.Close()) }()
	second.Pins = w.Pins
	second.BuildCache = filepath.Join(out, "cache")
	other, err := a.makeRelease(ctx, second, archs, reports)
	if err != nil {
		return err
	}
	n, err := release.Compare(dir, other)
	if err != nil {
		return fmt.Errorf("the second release differs: %w", err)
	}
	_, err = fmt.Fprintf(a.stdout, "made twice: %d files are the same\n", n)
	return err
}

// readReport reads the report of a conformance test that was passed, if there is a folder of one.
func readReport(folder string) (*report.Report, error) {
	if folder == "" {
		return nil, nil
	}
	file := filepath.Join(folder, "report.json")
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r, err := report.Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if r.Exit() != 0 {
		return nil, fmt.Errorf("the report in %s has cases that did not pass", folder)
	}
	return r, nil
}

// compiler returns the C compiler for an architecture.
func (a *app) compiler(arch string) (string, error) {
	if arch == runtime.GOARCH {
		if cc := os.Getenv("CC"); cc != "" {
			return cc, nil
		}
		return "gcc", nil
	}
	cc, ok := a.releaser.cross[arch]
	if !ok {
		return "", fmt.Errorf("no C compiler for %s is known", arch)
	}
	return cc, nil
}

// said fills version and revision into the texts that binaries must print.
func said(starts []release.Start, o release.Origin) []release.Start {
	values := strings.NewReplacer("{version}", o.Version, "{revision}", o.Revision)
	out := slices.Clone(starts)
	for i, s := range out {
		out[i].Says = nil
		for _, text := range s.Says {
			out[i].Says = append(out[i].Says, values.Replace(text))
		}
	}
	return out
}

func programs(p tree.Product) []string {
	var names []string
	for _, c := range p.Commands {
		names = append(names, c.Name())
	}
	slices.Sort(names)
	return names
}

// origin returns the sources of trees.
func origin(head tree.Head, trees []tree.Tree) release.Origin {
	o := release.Origin{Revision: tree.Revision(trees), Commit: head.Commit, Time: head.Time}
	for _, t := range trees {
		m := release.Module{Path: t.Path, Version: t.Version, Sum: t.Sum, Base: t.Base}
		for _, c := range t.Commits {
			m.Patches = append(m.Patches, release.Patch{Name: c.Patch.Name(), Commit: c.ID})
		}
		o.Modules = append(o.Modules, m)
	}
	return o
}
