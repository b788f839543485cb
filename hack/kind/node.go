// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"strings"
)

// nodeContainer is a container of the node image.
type nodeContainer struct {
	e    Engine
	name string
}

func (n nodeContainer) exec(ctx context.Context, command ...string) (string, error) {
	return n.e.output(ctx, append([]string{"exec", n.name}, command...)...)
}

// write makes a file on the node that only root can read.
func (n nodeContainer) write(ctx context.Context, file, text string) error {
	cmd := n.e.command(ctx, "docker", "exec", "-i", n.name, "install", "-D", "-m", "0600", "/dev/stdin", file)
	cmd.Stdin = strings.NewReader(text)
	_, err := output(cmd)
	return err
}
