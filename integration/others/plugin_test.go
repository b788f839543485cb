// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"

	"github.com/hookline-nri/hookline/testkit/node"
)

// A plugin is what has to be known of one that others wrote.
type plugin struct {
	name      string // as the report has it
	registers string // what the runtime knows it by
	gives     string // what containers of pods that ask for it get
	// command starts it on a node, after what it needs there was laid out.
	command func(n *node.Node) ([]string, error)
	// asks are the annotations of a pod that is to get something; none where it is nil.
	asks func(pod string) map[string]string
	// grant does what else has to be done before such a pod is run; nothing where it is nil.
	grant func(ctx context.Context, l *life, pod string) error
	// has tells whether a container has what the plugin gives, by the pid of its program.
	has func(n *node.Node, pod string, pid int) error
	// returned tells whether what was given to a pod that ended is the node's again. Where it is
	// nil there is nothing to return.
	returned func(n *node.Node, pod string) error
	// tells is set if it writes the events that it gets to its log, as NRI's logger does.
	tells bool
}

// annotated asks by the same annotation for any pod.
func annotated(key, value string) func(string) map[string]string {
	return func(string) map[string]string { return map[string]string{key: value} }
}
