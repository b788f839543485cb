// SPDX-License-Identifier: Apache-2.0

// Package nri has the commands that manage NRI plugins.
package nri

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"
	"google.golang.org/grpc"

	"github.com/containerd/containerd/v2/cmd/ctr/commands"
	"github.com/containerd/containerd/v2/internal/nri/operator"
)

// Command is the parent of all commands of NRI.
var Command = command()

func command() *cli.Command {
	c := &cli.Command{Name: "nri", Usage: "Manage NRI plugins"}
	c.Commands = append(c.Commands, forgetCommand)
	return c
}

var forgetCommand = &cli.Command{
	Name:      "forget",
	Usage:     "Forget NRI plugins that are disconnected and will not come back",
	ArgsUsage: "INDEX-NAME [INDEX-NAME, ...]",
	Description: `Drop the missed events of disconnected plugins: the stops and removals of pods and containers
that these plugins have not received. "crictl info" lists the disconnected plugins, since when
each one is disconnected, and how many events it has missed.

A forgotten plugin may still come back. It then receives the pods and containers that exist,
but not the events that it missed.`,
	Action: ofEach(forget),
}

func forget(ctx context.Context, conn grpc.ClientConnInterface, name string, out io.Writer) error {
	ends, err := operator.Forget(ctx, conn, name)
	if err != nil {
		return fmt.Errorf("forget %s: %w", name, err)
	}
	_, err = fmt.Fprintf(out, "%s is forgotten, with %d missed events\n", name, ends)
	return err
}

// A request is what a command asks containerd about a plugin.
type request func(ctx context.Context, conn grpc.ClientConnInterface, name string, out io.Writer) error

// ofEach returns the action of a command that sends a request for each plugin in its arguments.
func ofEach(r request) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error { return r.sendEach(ctx, cmd) }
}

func (r request) sendEach(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() == 0 {
		return errors.New("name the plugins by index and name, as 10-logger")
	}
	return r.send(ctx, cmd, cmd.Args().Slice())
}

// send sends a request for each name.
func (r request) send(ctx context.Context, cmd *cli.Command, names []string) error {
	client, ctx, cancel, err := commands.NewClient(ctx, cmd)
	if err != nil {
		return err
	}
	defer cancel()
	conn, ok := client.Conn().(grpc.ClientConnInterface)
	if !ok {
		return fmt.Errorf("cannot send requests over a %T", client.Conn())
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, r(ctx, conn, name, cmd.Root().Writer))
	}
	return errors.Join(errs...)
}
