// SPDX-License-Identifier: Apache-2.0

// Command hookline-install puts a release of hookline beside a distribution's containerd, on a node
// without Go, and removes it again. It installs an archive only if the workflow that makes releases
// has signed its checksum.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/install"
)

// version is set in a release.
var version = "devel"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program
	if err := command().Run(ctx, os.Args); err != nil {
		fmt.Fprintln(os.Stderr, "hookline-install: "+err.Error())
		stop()
		os.Exit(1)
	}
}

func command() *cli.Command {
	root := &cli.StringFlag{Name: "root", Usage: "root file system of the node", Value: "/"}
	return &cli.Command{
		Name:    "hookline-install",
		Usage:   "put a release of hookline beside a distribution's containerd, and remove it",
		Version: version,
		Commands: []*cli.Command{
			installCommand(root),
			{
				Name:  "check",
				Usage: "check that the installed release still fits the node",
				Description: `Repeats the checks of install on the installed programs, and changes nothing. Run it after
an update of the distribution, and before containerd is restarted with a changed
configuration. With --newer it only compares versions, and prints a line for the log if
the distribution's containerd is newer: systemd runs that before each start.`,
				Flags:  []cli.Flag{root, &cli.BoolFlag{Name: "newer", Usage: "only say if the distribution's containerd is newer"}},
				Action: check,
			},
			{
				Name:  "undo",
				Usage: "remove what install has placed",
				Description: `Removes binaries and drop-in. Binaries that pods still need stay, and the command says so:
run it again when these have ended. On a node that runs, containerd itself is one of them
until it has been restarted.`,
				Flags:  []cli.Flag{root},
				Action: undo,
			},
			trustedRootCommand(),
		},
	}
}

// node returns the node of a command, for which it needs root.
func node(cmd *cli.Command) (install.Node, error) {
	if cmd.NArg() > 0 {
		return install.Node{}, fmt.Errorf("%s takes no arguments, only options: see --help", cmd.Name)
	}
	n := install.Node{Root: cmd.String("root")}
	if info, err := os.Stat(n.Root); err != nil || !info.IsDir() {
		return n, fmt.Errorf("--root %s: no such folder", n.Root)
	}
	if os.Geteuid() != 0 {
		return n, errors.New("not root: run as root, to run programs of the node in its root file system")
	}
	return n, nil
}

func check(ctx context.Context, cmd *cli.Command) error {
	n, err := node(cmd)
	if err != nil {
		return err
	}
	out := cmd.Root().Writer
	if cmd.Bool("newer") {
		if err := n.Newer(ctx); err != nil {
			const warning = "<4>" // for the journal, see sd-daemon(3)
			_, err = fmt.Fprintf(out, "%shookline: %s\n", warning, strings.ReplaceAll(err.Error(), "\n", " "))
			return err
		}
		return nil
	}
	is, err := n.Check(ctx)
	if err != nil {
		return err
	}
	printNotes(out, is)
	_, err = fmt.Fprintf(out, "containerd %s fits %s\n", is.Version, is.Distribution)
	return err
}
