// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v3"
	"google.golang.org/grpc"

	"github.com/containerd/containerd/v2/internal/nri/operator"
)

var switchCommands = []*cli.Command{offCommand, onCommand}

var offCommand = &cli.Command{
	Name:      "off",
	Usage:     "Turn NRI plugins off",
	ArgsUsage: "INDEX-NAME [INDEX-NAME, ...]",
	Description: `Disconnect plugins and reject their registrations until "ctr nri on", also after a restart of
containerd. Pods and containers start without them. Those that require them do not start. The stops and
removals that they miss are kept for as long as for other disconnected plugins.`,
	Action: ofEach(off),
}

var onCommand = &cli.Command{
	Name:      "on",
	Usage:     "Turn NRI plugins on that were turned off",
	ArgsUsage: "INDEX-NAME [INDEX-NAME, ...]",
	Description: `Let plugins register again. A plugin that has exited has to be started again by what runs it.
containerd starts those that it launches from its plugin_path.`,
	Action: ofEach(on),
}

func off(ctx context.Context, conn grpc.ClientConnInterface, name string, out io.Writer) error {
	turned, err := operator.TurnOff(ctx, conn, name)
	if err != nil {
		return fmt.Errorf("turn off %s: %w", name, err)
	}
	line := name + " is off"
	if !turned.WasConnected {
		line += ", and was not connected"
	}
	if len(turned.RequiredFor) > 0 {
		line += fmt.Sprintf(": new %s that require it do not start", strings.Join(turned.RequiredFor, " and "))
	}
	_, err = fmt.Fprintln(out, line)
	return err
}

func on(ctx context.Context, conn grpc.ClientConnInterface, name string, out io.Writer) error {
	if err := operator.TurnOn(ctx, conn, name); err != nil {
		return fmt.Errorf("turn on %s: %w", name, err)
	}
	_, err := fmt.Fprintf(out, "%s is on\n", name)
	return err
}
