// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"

	"github.com/hookline-nri/hookline/testkit/node"
)

// plugin describes a plugin of another project.
type plugin struct {
	name      string // in the report
	registers string // its name in the runtime
	gives     string // the thing that it gives to containers of pods that ask for it
	// command prepares the node for it, and returns its command line.
	command func(n *node.Node) ([]string, error)
	// asks returns the annotations of a pod that asks for something; none if it is nil.
	asks func(pod string) map[string]string
	// grant prepares such a pod before it is run; nothing if it is nil.
	grant func(ctx context.Context, l *life, pod string) error
	// has returns nil if a container has what the plugin gives, by the PID of its program.
	has func(n *node.Node, pod string, pid int) error
	// returned returns nil if the node has back what was given to a pod that ended. It is nil if
	// the plugin returns nothing.
	returned func(n *node.Node, pod string) error
	// tells is set if it logs the events that it receives, as NRI's logger does.
	tells bool
}

// annotated asks with the same annotation for any pod.
func annotated(key, value string) func(string) map[string]string {
	return func(string) map[string]string { return map[string]string{key: value} }
}
