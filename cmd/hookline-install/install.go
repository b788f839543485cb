// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v3"

	"github.com/hookline-nri/hookline/internal/install"
)

func installCommand(root cli.Flag) *cli.Command {
	return &cli.Command{
		Name:  "install",
		Usage: "put a release beside the distribution's containerd",
		Description: `Verifies an archive, and places its binaries in /opt/hookline/bin, with this program, and a
systemd drop-in that starts them with the arguments of the distribution's containerd. First
it runs the distribution's containerd and the new one, and checks that both are of the same
minor release, that the new one keeps every setting of the node, and that the settings of NRI
plugins have no typing error. The distribution's files stay as they are, and nothing is
restarted.

An archive needs SHA256SUMS and SHA256SUMS.sigstore.json of its release beside it. The
signature must be that of the workflow that makes releases. To verify it, the public keys of
sigstore are fetched; --trusted-root has them for a node without a network. --unsigned takes a
folder of binaries that you have built, as it is.`,
		Flags: []cli.Flag{
			root,
			&cli.StringFlag{Name: "from", Usage: "`ARCHIVE` of a release, or with --unsigned a folder of binaries", Required: true},
			&cli.BoolFlag{Name: "unsigned", Usage: "take a folder, without a signature"},
			&cli.StringFlag{Name: "trusted-root", Usage: "`FILE` that \"hookline-install trusted-root\" has printed"},
			&cli.StringFlag{Name: "identity", Usage: "regular expression of who must have signed, for releases of a fork", Value: releaseWorkflow},
			&cli.StringFlag{Name: "issuer", Usage: "`URL` of the issuer of that identity", Value: githubActions},
		},
		Action: runInstall,
	}
}

func runInstall(ctx context.Context, cmd *cli.Command) error {
	n, err := node(cmd)
	if err != nil {
		return err
	}
	from := cmd.String("from")
	info, err := os.Stat(from)
	switch unsigned := cmd.Bool("unsigned"); {
	case err != nil:
		return fmt.Errorf("--from: %w", err)
	case unsigned && info.IsDir():
		return installFolder(ctx, cmd, n, from)
	case unsigned:
		return fmt.Errorf("--unsigned: %s is no folder", from)
	case info.Mode().IsRegular():
		return installArchive(ctx, cmd, n, from)
	}
	return fmt.Errorf("--from: %s is no archive of a release: for a folder of binaries that you have built, give --unsigned", from)
}

// installArchive installs an archive if it is signed.
func installArchive(ctx context.Context, cmd *cli.Command, n install.Node, file string) (err error) {
	by, err := signerOf(cmd)
	if err != nil {
		return err
	}
	trusted, err := trustedRoot(ctx, cmd.String("trusted-root"))
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "hookline-install-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := by.unpackVerified(trusted, file, dir); err != nil {
		return err
	}
	return installFolder(ctx, cmd, n, dir)
}

func installFolder(ctx context.Context, cmd *cli.Command, n install.Node, dir string) error {
	const self = "/proc/self/exe" // also if the file has been replaced since
	done, err := n.Install(ctx, dir, self)
	if err != nil {
		return err
	}
	out := cmd.Root().Writer
	printNotes(out, done)
	_, err = fmt.Fprintf(out, "containerd %s is in %s, beside %s. %s\n", done.Version, filepath.Join(n.Root, install.Bin), done.Distribution, next(n))
	return err
}

func printNotes(out io.Writer, of install.Installed) {
	for _, note := range of.Notes {
		fmt.Fprintln(out, note)
	}
}

func undo(ctx context.Context, cmd *cli.Command) error {
	n, err := node(cmd)
	if err != nil {
		return err
	}
	users, err := n.Undo(ctx)
	if err != nil {
		return err
	}
	out := cmd.Root().Writer
	if len(users) > 0 {
		_, err = fmt.Fprintf(out, "the distribution's containerd will be started. %s\nThe binaries stay, because these use them: %s. Run this again when they have ended.\n",
			next(n), strings.Join(users, ", "))
		return err
	}
	_, err = fmt.Fprintf(out, "nothing is left in %s. %s\n", n.Root, next(n))
	return err
}

// next says when the change takes effect.
func next(n install.Node) string {
	if n.Root != "/" {
		return "It takes effect when the node boots."
	}
	return "It takes effect with: systemctl daemon-reload && systemctl restart containerd"
}
