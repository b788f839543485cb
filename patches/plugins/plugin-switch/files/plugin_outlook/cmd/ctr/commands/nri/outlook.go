// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v3"
	"google.golang.org/grpc"

	"github.com/containerd/containerd/v2/internal/nri/operator"
)

var listCommand = &cli.Command{
	Name:    "list",
	Aliases: []string{"ls"},
	Usage:   "List NRI plugins",
	Description: `List the plugins that are connected, disconnected or turned off. EVENTS are those that wait for a
plugin that is connected, or that a disconnected one has missed. PODS and CONTAINERS are those that a
connected plugin knows.`,
	Action: ofNone(list),
}

var showCommand = &cli.Command{
	Name:      "show",
	Usage:     "Show what NRI plugins receive when they connect",
	ArgsUsage: "INDEX-NAME [INDEX-NAME, ...]",
	Description: `Show for plugins that are disconnected or turned off how many pods and containers they receive in
Synchronize, how many of these they do not know, and then which stops and removals they have missed.`,
	Action: ofEach(show),
}

// ofNone returns the action of a command that sends one request about all plugins.
func ofNone(r request) cli.ActionFunc {
	return func(ctx context.Context, cmd *cli.Command) error { return r.send(ctx, cmd, []string{""}) }
}

func list(ctx context.Context, conn grpc.ClientConnInterface, _ string, out io.Writer) error {
	all, err := operator.Plugins(ctx, conn)
	if err != nil {
		return fmt.Errorf("list NRI plugins: %w", err)
	}
	table := tabwriter.NewWriter(out, 1, 8, 2, ' ', 0)
	fmt.Fprintln(table, "PLUGIN\tSTATE\tSINCE\tPODS\tCONTAINERS\tEVENTS")
	for _, p := range all {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%d\n", p.Name, p.State, p.Since.UTC().Format(time.RFC3339), p.Pods, p.Containers, p.Events)
	}
	return table.Flush()
}

func show(ctx context.Context, conn grpc.ClientConnInterface, name string, out io.Writer) error {
	o, err := operator.OutlookOf(ctx, conn, name)
	if err != nil {
		return fmt.Errorf("show %s: %w", name, err)
	}
	fmt.Fprintf(out, "%s is %s since %s. When it connects, it receives:\n", name, o.Plugin.State, o.Plugin.Since.UTC().Format(time.RFC3339))
	fmt.Fprintf(out, "Synchronize with %d pods and %d containers. It does not know %d and %d of these.\n", o.Pods, o.Containers, o.NewPods, o.NewContainers)
	table := tabwriter.NewWriter(out, 1, 8, 2, ' ', 0)
	for _, e := range o.Oldest {
		fmt.Fprintf(table, "%s\t%s/%s\t%s\n", e.Event, e.Namespace, e.Pod, e.Container)
	}
	if more := o.Missed - len(o.Oldest); more > 0 {
		fmt.Fprintf(table, "and %d more\n", more)
	}
	return table.Flush()
}
