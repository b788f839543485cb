// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/testkit/node"
)

// dranet is dranet's driver. It moves the network device that a pod claims into the network
// namespace of the pod, and back when the pod is stopped.
func dranet() plugin {
	return plugin{
		name:      "dranet",
		registers: "00-dra.net",
		gives:     "network device",
		command: func(n *node.Node) ([]string, error) {
			return []string{filepath.Join(programs, "dranet"), "-folder=" + filepath.Join(n.Folder(), "kubelet")}, nil
		},
		grant:    claim,
		has:      linkIsIn,
		returned: linkIsBack,
	}
}

// claim makes the device of a pod, and lets dranet prepare the pod's claim of it.
func claim(ctx context.Context, l *life, pod string) error {
	if err := makeLink(ctx, l, pod); err != nil {
		return err
	}
	line := l.n.CRI().Pod(pod).GetMetadata().GetUid() + " " + link(pod) + "\n"
	before := l.printed(line)
	if _, err := fmt.Fprint(l.first.input, line); err != nil {
		return fmt.Errorf("claim device %s: %w", link(pod), err)
	}
	return eventually(ctx, "the claim of device "+link(pod), func() error {
		if l.printed(line) == before {
			return errors.New("it is not prepared")
		}
		return nil
	})
}

// printed counts a line in the first instance's output.
func (l *life) printed(line string) int {
	text, err := os.ReadFile(filepath.Join(l.folder, out))
	if err != nil {
		return 0
	}
	return strings.Count(string(text), line)
}
