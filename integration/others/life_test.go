// SPDX-License-Identifier: Apache-2.0

package others

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// soon is how long the tests wait for something that a runtime does by itself.
const soon = 10 * time.Second

// life is the life of a plugin on a node of its own.
type life struct {
	*testing.T
	n       *node.Node
	plugin  plugin
	folder  string // for its output and its log
	command []string
	first   *process // the instance that is restarted whenever it ends
}

func newLife(ctx context.Context, t *testing.T, p plugin) *life {
	l := &life{T: t, n: startNode(ctx, t), plugin: p, folder: kept(t)}
	require.NoError(t, asHost(l.n))
	for _, file := range []string{out, logs, out + second, logs + second} {
		if err := os.Remove(filepath.Join(l.folder, file)); !errors.Is(err, os.ErrNotExist) {
			require.NoError(t, err)
		}
	}
	var err error
	l.command, err = p.command(l.n)
	require.NoError(t, err)
	return l
}

// The files of an instance's output.
const (
	out    = "output"
	logs   = "log"
	second = "-of-second-instance"
)

// verdict is the result of one check. If it fails, the others run nevertheless.
func (l *life) verdict(sentence string, err error) {
	l.Run(sentence, func(t *testing.T) { require.NoError(t, err) })
}

// start starts an instance, which ends with the test.
func (l *life) start(instance string) (*process, error) {
	p, err := startProcess(l.n, filepath.Join(l.folder, out+instance), filepath.Join(l.folder, logs+instance), l.command)
	if err == nil {
		l.Cleanup(func() { _ = p.kill() })
	}
	return p, err
}

// supervise starts the first instance, unless it runs.
func (l *life) supervise() (err error) {
	if l.first == nil || !l.first.runs() {
		l.first, err = l.start("")
	}
	return err
}

// join supervises the first instance until it has joined once more than before.
func (l *life) join(ctx context.Context, before int) error {
	ctx, cancel := context.WithTimeout(ctx, 4*soon)
	defer cancel()
	return wait.Until(ctx, l.plugin.registers+" to join", func(context.Context) error {
		if err := l.supervise(); err != nil {
			return fmt.Errorf("%w: %w", wait.ErrPermanent, err)
		}
		if l.joins() <= before {
			return errors.New("it has not joined")
		}
		return nil
	})
}

// joins counts how often the plugin has joined, which both runtimes log.
func (l *life) joins() int {
	log, err := l.n.Log()
	if err != nil {
		return 0
	}
	return strings.Count(log, fmt.Sprintf(`%s\" connected and synchronized`, l.plugin.registers))
}

// eventually waits until a condition holds.
func eventually(ctx context.Context, what string, holds func() error) error {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	return wait.Until(ctx, what, func(context.Context) error { return holds() })
}

// crashed returns an error if an instance has logged a crash.
func (l *life) crashed() error {
	files, err := filepath.Glob(filepath.Join(l.folder, logs+"*"))
	if err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		for _, word := range []string{"panic: ", "fatal error: "} {
			if i := strings.Index(string(text), word); i >= 0 {
				return fmt.Errorf("in its log: %.300s", text[i:])
			}
		}
	}
	return nil
}

// nothingLeft returns nil once the node is as it was without pods.
func (l *life) nothingLeft(ctx context.Context) error {
	return eventually(ctx, "nothing to be left", func() error {
		left, err := l.n.Leftovers(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left: %v", left)
		}
		return err
	})
}
