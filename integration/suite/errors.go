// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"fmt"
	"strings"

	"github.com/hookline-nri/hookline/testkit/node"
)

// HasLogged tells whether one line of the runtime's log has all the words.
func HasLogged(n *node.Node, words ...string) error {
	log, err := n.Log()
	if err != nil {
		return err
	}
next:
	for line := range strings.Lines(log) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		return nil
	}
	return fmt.Errorf("no line with %q", words)
}
