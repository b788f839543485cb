// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/install"
	"github.com/hookline-nri/hookline/internal/release"
)

func (a *app) install() *cli.Command {
	return &cli.Command{
		Name:      "install",
		Usage:     "put a build beside a distribution's containerd",
		UsageText: "go run ./hack install --root DIR [--from BIN|ARCHIVE]\n   go run ./hack install --root DIR --check\n   go run ./hack install --root DIR --undo",
		Description: `Places the binaries in /opt/hookline/bin of the root file system DIR ("/" for this
machine), and a systemd drop-in that starts them with the arguments of the
distribution's containerd. First it runs the distribution's containerd and the new one
in DIR, and checks that both are of the same minor release, that the new one keeps every
setting of the node, and that the settings of NRI plugins have no typing error. --check
repeats these checks for the installed programs, and changes nothing. The distribution's files stay as they are, and nothing is
restarted. --undo removes binaries and drop-in; binaries that pods still need stay.`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "root", Usage: "root file system of the node", Required: true},
			&cli.StringFlag{Name: "from", Usage: "folder or archive of the binaries", DefaultText: "bin in the output folder"},
			&cli.BoolFlag{Name: "check", Usage: "check the installed programs, after an update of the distribution or a change of the configuration"},
			&cli.BoolFlag{Name: "undo", Usage: "remove the installed files"},
		},
		Before: takes(0, "--root DIR [--from BIN|ARCHIVE | --check | --undo]"),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			n := install.Node{Root: cmd.String("root")}
			if info, err := os.Stat(n.Root); err != nil || !info.IsDir() {
				return fmt.Errorf("--root %s: no such folder", n.Root)
			}
			if os.Geteuid() != 0 {
				return errors.New("not root: run as root, to run programs of the node in its root file system")
			}
			if cmd.Bool("undo") {
				return a.uninstall(n)
			}
			if cmd.Bool("check") {
				return a.checkInstalled(ctx, n)
			}
			from := cmd.String("from")
			if from == "" {
				from = filepath.Join(patched(cmd), "bin")
			}
			return a.installFrom(ctx, n, from)
		},
	}
}

func (a *app) installFrom(ctx context.Context, n install.Node, from string) error {
	if strings.HasSuffix(from, ".tar.gz") {
		if err := release.CheckSum(from); err != nil {
			return err
		}
		dir, err := os.MkdirTemp("", "hookline-install-")
		if err != nil {
			return err
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if err := release.Unpack(from, dir); err != nil {
			return err
		}
		from = dir
	}
	done, err := n.Install(ctx, from)
	if err != nil {
		return err
	}
	a.printNotes(done)
	_, err = fmt.Fprintf(a.stdout, "containerd %s is in %s, beside %s. %s\n", done.Version, filepath.Join(n.Root, install.Bin), done.Distribution, next(n))
	return err
}

// checkInstalled fails unless the installed programs still fit the node.
func (a *app) checkInstalled(ctx context.Context, n install.Node) error {
	is, err := n.Check(ctx)
	if err != nil {
		return err
	}
	a.printNotes(is)
	_, err = fmt.Fprintf(a.stdout, "containerd %s fits %s\n", is.Version, is.Distribution)
	return err
}

func (a *app) printNotes(of install.Installed) {
	for _, note := range of.Notes {
		fmt.Fprintln(a.stdout, note)
	}
}

func (a *app) uninstall(n install.Node) error {
	kept, err := n.Undo()
	if err != nil {
		return err
	}
	if len(kept) > 0 {
		_, err = fmt.Fprintf(a.stdout, "the distribution's containerd will be started. %s\nThe binaries stay: %d pods and containers use their shim (%s). Run this again when these have ended.\n",
			next(n), len(kept), strings.Join(kept, " "))
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "nothing is left in %s. %s\n", n.Root, next(n))
	return err
}

// next says when the change takes effect.
func next(n install.Node) string {
	if n.Root != "/" {
		return "It takes effect when the node boots."
	}
	return "It takes effect with: systemctl daemon-reload && systemctl restart containerd"
}
