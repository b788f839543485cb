// SPDX-License-Identifier: Apache-2.0

package others

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"github.com/hookline-nri/hookline/testkit/node"
)

// process is a running plugin.
type process struct {
	cmd    *exec.Cmd
	input  io.Writer
	exited chan struct{} // closed once it has been waited for
}

// startProcess starts a program in a node's namespaces. Its output is appended to two files, out
// and log.
func startProcess(n *node.Node, out, log string, command []string) (*process, error) {
	p := &process{cmd: exec.Command(command[0], command[1:]...), exited: make(chan struct{})}
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var err error
	if p.input, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	started := make(chan error)
	// The parent is the thread in the namespaces, which must not end before the process.
	go func() {
		_ = n.Within(func() error {
			err := p.start(out, log)
			started <- err
			if err == nil {
				_ = p.cmd.Wait() // its log has the reason
				close(p.exited)
			}
			return nil
		})
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start plugin %s: %w", command[0], err)
	}
	return p, nil
}

func (p *process) start(out, log string) error {
	files := make([]*os.File, 2)
	for i, path := range []string{out, log} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		var err error
		if files[i], err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
			return err
		}
		defer func() { _ = files[i].Close() }() // the process has its own
	}
	p.cmd.Stdout, p.cmd.Stderr = files[0], files[1]
	return p.cmd.Start()
}

// runs reports whether the process has not ended.
func (p *process) runs() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill kills the process, and returns when it has ended.
func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill plugin %s: %w", p.cmd.Path, err)
	}
	<-p.exited
	return nil
}
