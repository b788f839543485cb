// SPDX-License-Identifier: Apache-2.0

// Package nri has the commands for what is kept for NRI plugins.
package nri

import (
	"context"
	"errors"
	"fmt"

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
	Usage:     "Forget NRI plugins that are disconnected and not coming back",
	ArgsUsage: "INDEX-NAME [INDEX-NAME, ...]",
	Description: `Drop what is kept for plugins that are disconnected: the stops and removals of pods and
containers that they have not heard. "crictl info" shows which plugins are disconnected, since
when, and how many ends they are owed.

A plugin that comes back all the same is told of what there is then, and not of what
ended while it was disconnected.`,
	Action: forget,
}

func forget(ctx context.Context, cmd *cli.Command) error {
	if cmd.NArg() == 0 {
		return errors.New("name the plugins to forget, as 10-logger")
	}
	client, ctx, cancel, err := commands.NewClient(ctx, cmd)
	if err != nil {
		return err
	}
	defer cancel()
	conn, ok := client.Conn().(grpc.ClientConnInterface)
	if !ok {
		return fmt.Errorf("cannot ask over a %T", client.Conn())
	}
	var errs []error
	for _, name := range cmd.Args().Slice() {
		ends, err := operator.Forget(ctx, conn, name)
		if err != nil {
			errs = append(errs, fmt.Errorf("forget %s: %w", name, err))
			continue
		}
		fmt.Fprintf(cmd.Root().Writer, "%s is forgotten, and %d ends that it was owed\n", name, ends)
	}
	return errors.Join(errs...)
}
