// SPDX-License-Identifier: Apache-2.0

package suites

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// restarter kills a runtime and starts it again whenever its command is run.
type restarter struct {
	command string // for sh; returns when the runtime serves again
	asked   *os.File
	answers *os.File
	ended   chan error
}

// restartTimeout is how long a restart may take.
const restartTimeout = time.Minute

// restarts serves such a command until it is closed. The command may run in any namespace that has
// the folder.
func restarts(ctx context.Context, on Runtime, folder string) (_ *restarter, err error) {
	ask, answer := filepath.Join(folder, "restart"), filepath.Join(folder, "restarted")
	r := &restarter{
		command: fmt.Sprintf(`echo now >'%s' && read -r said <'%s' && { [ "$said" = done ] || { echo "$said"; exit 1; }; }`, ask, answer),
		ended:   make(chan error, 1),
	}
	if r.asked, err = pipe(ask); err != nil {
		return nil, err
	}
	if r.answers, err = pipe(answer); err != nil {
		return nil, errors.Join(err, r.asked.Close())
	}
	go func() { r.ended <- r.serve(ctx, on) }() // ends with close
	return r, nil
}

// pipe makes a named pipe and opens both ends, so that neither end is closed with the other side.
func pipe(path string) (*os.File, error) {
	if err := unix.Mkfifo(path, 0o600); err != nil {
		return nil, fmt.Errorf("make pipe %s: %w", path, err)
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

func (r *restarter) serve(ctx context.Context, on Runtime) error {
	asked := bufio.NewScanner(r.asked)
	for asked.Scan() {
		said := "done"
		if err := restart(ctx, on); err != nil {
			said = strings.Join(strings.Fields(err.Error()), " ")
		}
		if _, err := fmt.Fprintln(r.answers, said); err != nil {
			return err
		}
	}
	if err := asked.Err(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func restart(ctx context.Context, on Runtime) error {
	ctx, cancel := context.WithTimeout(ctx, restartTimeout)
	defer cancel()
	if err := on.Kill(ctx); err != nil {
		return err
	}
	return on.Boot(ctx)
}

// close ends the restarter, after a restart that is in progress.
func (r *restarter) close() error {
	err := r.asked.Close()
	return errors.Join(err, <-r.ended, r.answers.Close(), os.Remove(r.asked.Name()), os.Remove(r.answers.Name()))
}
