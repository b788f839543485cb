// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookline-nri/hookline/integration/wait"
	"golang.org/x/sys/unix"
)

// holdText stands in the place of ptp. As long as there is a pipe of a pod's
// name, the pod's ADD waits for a word from it.
const holdText = `#!/bin/sh
pod=${CNI_ARGS#*K8S_POD_NAME=}
pipe='@HOLDS@'/${pod%%;*}
if [ "$CNI_COMMAND" = ADD ] && [ -p "$pipe" ]; then
	read -r word <"$pipe"
	if [ "$word" = fail ]; then
		echo '{"cniVersion": "1.1.0", "code": 100, "msg": "held and failed"}'
		exit 1
	fi
fi
exec '@PLUGIN@'
`

// Hold is a pod's CNI ADD that waits to be released.
type Hold struct {
	pipe string
	end  *os.File // open once the ADD reads from the pipe
}

// HoldADD makes the CNI ADD of the pod of a name, which is to come, wait. Other
// pods, and what else CNI asks for, go on.
func (n *Node) HoldADD(pod string) (*Hold, error) {
	holds, plugin := n.paths.in("cni", "holds"), filepath.Join(n.paths.cniBin(), "ptp")
	if err := os.MkdirAll(holds, 0o755); err != nil {
		return nil, err
	}
	program, err := os.Readlink(plugin)
	if err == nil { // not held before
		script := strings.NewReplacer("@HOLDS@", holds, "@PLUGIN@", program).Replace(holdText)
		if err := os.WriteFile(plugin+".new", []byte(script), 0o755); err != nil {
			return nil, err
		}
		if err := os.Rename(plugin+".new", plugin); err != nil {
			return nil, err
		}
	}
	h := &Hold{pipe: filepath.Join(holds, pod)}
	if err := unix.Mkfifo(h.pipe, 0o600); err != nil {
		return nil, fmt.Errorf("make pipe %s: %w", h.pipe, err)
	}
	return h, nil
}

// Entered waits until the ADD is held: only then has the pipe a reader.
func (h *Hold) Entered(ctx context.Context) error {
	return wait.Until(ctx, "the CNI ADD of pod "+filepath.Base(h.pipe), func(context.Context) (err error) {
		h.end, err = os.OpenFile(h.pipe, os.O_WRONLY|unix.O_NONBLOCK, 0)
		return err
	})
}

// Release lets the ADD go on. It must have been entered.
func (h *Hold) Release() error { return h.say("go") }

// Fail makes the ADD fail, before it has done anything. It must have been entered.
func (h *Hold) Fail() error { return h.say("fail") }

func (h *Hold) say(word string) error {
	// A DEL that follows, and an ADD for the same name later, are not held.
	if err := os.Remove(h.pipe); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(h.end, word); err != nil {
		return err
	}
	return h.end.Close()
}
