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

// soon is how long is waited for what a runtime does of itself.
const soon = 10 * time.Second

// A life is that of a plugin on a node of its own.
type life struct {
	*testing.T
	n       *node.Node
	plugin  plugin
	folder  string // of its output and its log
	command []string
	first   *process // the instance that is started again whenever it ends
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

// The files of what an instance prints.
const (
	out    = "output"
	logs   = "log"
	second = "-of-second-instance"
)

// verdict is one thing that was asked. The others are asked all the same.
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

// join supervises the first instance until there was another join than those before.
func (l *life) join(ctx context.Context, before int) error {
	ctx, cancel := context.WithTimeout(ctx, 4*soon)
	defer cancel()
	return wait.Until(ctx, l.plugin.registers+" to join", func(context.Context) error {
		if err := l.supervise(); err != nil {
			return fmt.Errorf("%w: %w", wait.ErrPermanent, err)
		}
		if l.joins() <= before {
			return errors.New("it did not")
		}
		return nil
	})
}

// joins counts how often a plugin of the name has joined, which both runtimes log.
func (l *life) joins() int {
	log, err := l.n.Log()
	if err != nil {
		return 0
	}
	return strings.Count(log, fmt.Sprintf(`%s\" connected and synchronized`, l.plugin.registers))
}

// eventually waits for what comes soon.
func eventually(ctx context.Context, what string, holds func() error) error {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	return wait.Until(ctx, what, func(context.Context) error { return holds() })
}

// crashed tells whether an instance has printed that it crashed.
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

// nothingLeft tells whether the node is as it was without pods.
func (l *life) nothingLeft(ctx context.Context) error {
	return eventually(ctx, "nothing to be left", func() error {
		left, err := l.n.Leftovers(ctx)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left: %v", left)
		}
		return err
	})
}
