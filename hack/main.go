// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"

	"golang.org/x/mod/modfile"

	"github.com/hookline-nri/hookline/hack/docs"
	"github.com/hookline-nri/hookline/internal/crossvet"
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/internal/release"
	"github.com/hookline-nri/hookline/internal/tree"
	"github.com/hookline-nri/hookline/patches"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

const modulePath = "github.com/hookline-nri/hookline"

// config is replaced by tests: a series, the product built from it, and their folders.
type config struct {
	root     string // of the repository
	series   edit.Series
	threads  []docs.Thread // upstream's that meet the series
	product  tree.Product
	releaser releaser
	build    string // behind the plus sign of the built version
	// coreBuild is the same for the core.
	coreBuild string
	tests     map[string][]string // packages of upstream to test, by module, besides those touched
	// platforms are the other platforms that upstream builds for.
	platforms []crossvet.Platform
	pages     docs.Pages // of the documentation
	// defaults is a command of the product that prints its default configuration.
	defaults []string
	// ours matches words of this project that no patch for upstream may have. hold matches
	// those that a patch on hold may not have either.
	ours, hold *regexp.Regexp
	stdout     io.Writer
	stderr     io.Writer
}

func main() {
	// This program is also the plugin of cases that freeze or kill a plugin.
	if acted, err := plugin.Act(); acted {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := hookline(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "hookline: %v\n", err)
		os.Exit(1)
	}
}

func hookline(args []string) error {
	root, err := findRoot()
	if err != nil {
		return err
	}
	static := []string{"osusergo", "netgo", "static_build"}
	return runToEnd(config{
		root:    root,
		series:  patches.Series,
		threads: threads,
		product: tree.Product{
			Module: "containerd",
			// As upstream's Makefile does it for a static release (STATIC=1).
			Commands: []tree.Command{
				{Package: "cmd/containerd", Tags: static, Cgo: true}, // the btrfs snapshotter needs cgo
				{Package: "cmd/ctr", Tags: static, Cgo: true},
				{Package: "cmd/containerd-shim-runc-v2", Tags: []string{"no_grpc"}},
				{Package: "cmd/containerd-shim-sandboxed-runc-v2", Tags: []string{"no_grpc"}, Added: true},
			},
			Tags: []string{"urfave_cli_no_docs"},
			Vars: "version",
			Link: "-s -w -extldflags -static",
		},
		releaser: releaser{
			commands:  []tree.Command{{Package: "cmd/containerd-stress", Tags: static, Cgo: true}},
			installer: "cmd/hookline-install",
			cross:     map[string]string{"amd64": "x86_64-linux-gnu-gcc", "arm64": "aarch64-linux-gnu-gcc"},
			starts: []release.Start{
				{Args: []string{"containerd", "--version"}, Says: []string{"{version}", "{revision}"}},
				{Args: []string{"containerd", "config", "default"}, Says: []string{"plugin_request_timeout"}, TOML: true},
				{Args: []string{"ctr", "--version"}, Says: []string{"{version}"}},
				{Args: []string{"containerd-shim-runc-v2", "-v"}, Says: []string{"{version}", "{revision}"}},
				{Args: []string{"containerd-shim-sandboxed-runc-v2", "-v"}, Says: []string{"{version}", "{revision}"}},
			},
		},
		build:     fmt.Sprintf("hookline.%d", patches.Release),
		coreBuild: fmt.Sprintf("hookline-core.%d", patches.Release),
		tests: map[string][]string{
			"nri":        {"./pkg/..."},
			"containerd": {"./internal/nri/...", "./internal/cri/..."},
		},
		platforms: []crossvet.Platform{{OS: "windows", Arch: "amd64"}, {OS: "darwin", Arch: "arm64"}, {OS: "freebsd", Arch: "amd64"}},
		pages: docs.Pages{
			Patches:  "docs/patches.md",
			Groups:   "docs/upstreaming.md",
			Threads:  "docs/upstreaming.md",
			Ladder:   "reports/ladder.json",
			Summary:  "README.md",
			Figures:  "docs/performance.md",
			Rules:    "docs/contract.md",
			Settings: "docs/operating/settings.md",
			Metrics:  "docs/operating/metrics.md",
			Runbook:  "docs/operating/alerts.md",
			Alerts:   "monitoring",
			Proofs:   "docs/proofs.md",
			Changes:  "docs/differences.md",
			Linked:   []string{"*.md", "docs/*.md", "docs/operating/*.md", "docs/upstream/*.md", "patches/*/*/pull.md"},
		},
		defaults: []string{"containerd", "config", "default"},
		ours:     regexp.MustCompile(`(?i:hookline|\bprovisional)|\b[LNR][0-9]{1,2}\b`),
		hold:     regexp.MustCompile(`\b[LNR][0-9]{1,2}\b`),
		stdout:   os.Stdout,
		stderr:   os.Stderr,
	}, args)
}

// runToEnd is run with signal handling: the first signal cancels it, the second one kills it.
func runToEnd(cfg config, args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, cfg, args)
}

// findRoot looks for the repository in the working directory and above.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && modfile.ModulePath(content) == modulePath {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run this inside the repository: no folder above has the go.mod of " + modulePath)
		}
		dir = filepath.Dir(dir)
	}
}
