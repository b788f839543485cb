// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/testkit/script"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// Point is a moment in the run of a program: before or after its work.
type Point struct {
	Program string // a CNI plugin, runc, or the shim
	Verb    string // as in CNI_COMMAND, or on the command line
	when    string
}

// Before returns the point before a program has done anything.
func Before(program, verb string) Point { return Point{program, verb, "before"} }

// After returns the point after a program's work, before it exits.
func After(program, verb string) Point { return Point{program, verb, "after"} }

func (p Point) String() string { return p.when + " " + p.Program + " " + p.Verb }

// holdText is a script in the place of a program. As long as a pipe for a point and a pod exists, the
// program waits there for a line from it. The shim, and runc with it, run in the pod's bundle.
const holdText = `#!/bin/sh
if [ -n "$CNI_COMMAND" ]; then
	verb=$CNI_COMMAND
	pod=${CNI_ARGS#*K8S_POD_NAME=}
	pod=${pod%%;*}
else
	for verb; do
		case $verb in create | start | kill | delete) break ;; esac
	done
	pod=$(sed -n 's/.*"io.kubernetes.cri.sandbox-name":"\([^"]*\)".*/\1/p' config.json 2>/dev/null)
fi
pipe='@HOLDS@'/@NAME@.$verb.$pod
if [ -p "$pipe.before" ]; then
	read -r word <"$pipe.before"
	if [ "$word" = fail ]; then
		[ -z "$CNI_COMMAND" ] || echo '{"cniVersion": "1.1.0", "code": 100, "msg": "held and failed"}'
		echo 'held and failed' >&2
		exit 1
	fi
fi
[ -p "$pipe.after" ] || exec '@PROGRAM@' "$@"
'@PROGRAM@' "$@"
code=$?
read -r word <"$pipe.after"
exit $code
`

// Hold is a program that waits to be released.
type Hold struct {
	at, pod string
	pipe    string
	end     *os.File // open once the program reads from the pipe
}

// HoldAt makes a program wait at a point for the pod of that name. Other pods, and
// other runs of the program, go on.
func (n *Node) HoldAt(point Point, pod string) (*Hold, error) {
	holds := n.paths.in("holds")
	if err := os.MkdirAll(holds, 0o755); err != nil {
		return nil, err
	}
	path := filepath.Join(n.paths.cniBin(), point.Program)
	if point.Program == "runc" || point.Program == shim {
		path = filepath.Join(n.paths.bin(), point.Program)
	}
	err := script.StandIn(path, holdText, "@HOLDS@", holds, "@NAME@", point.Program)
	if err != nil && !errors.Is(err, unix.EINVAL) { // EINVAL: it was held before
		return nil, err
	}
	h := &Hold{at: point.String(), pod: pod, pipe: filepath.Join(holds, point.Program+"."+point.Verb+"."+pod+"."+point.when)}
	if err := unix.Mkfifo(h.pipe, 0o600); err != nil {
		return nil, fmt.Errorf("make pipe %s: %w", h.pipe, err)
	}
	return h, nil
}

// Entered waits until the program is held: only then does the pipe have a reader.
func (h *Hold) Entered(ctx context.Context) error {
	return wait.Until(ctx, "pod "+h.pod+" to be held "+h.at, func(context.Context) error {
		return h.open()
	})
}

func (h *Hold) open() (err error) {
	h.end, err = os.OpenFile(h.pipe, os.O_WRONLY|unix.O_NONBLOCK, 0)
	return err
}

// Release lets the program go on, unless it was killed. A program that has not reached the point yet
// will not be held.
func (h *Hold) Release() error {
	if h.end == nil {
		if err := h.open(); errors.Is(err, unix.ENXIO) { // no reader
			return os.Remove(h.pipe)
		} else if err != nil {
			return err
		}
	}
	return h.say("go")
}

// Fail makes a program that is held before its work fail without doing any. The program must have
// entered.
func (h *Hold) Fail() error { return h.say("fail") }

func (h *Hold) say(word string) error {
	// Later runs for the same pod are not held.
	if err := os.Remove(h.pipe); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(h.end, word); err != nil && !errors.Is(err, unix.EPIPE) {
		return err
	}
	return h.end.Close()
}
