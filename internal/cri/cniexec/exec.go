// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/version"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"

	"github.com/hookline-nri/hookline/internal/cri/cnispan"
)

const (
	// Grace is how long the output of a plugin is read after it exited or was
	// killed, if some process still holds it.
	Grace = 500 * time.Millisecond

	// MaxOutput is the number of bytes that a plugin may write as its result. One
	// that writes more fails.
	MaxOutput = 16 << 20

	// maxDiagnostics is the number of bytes that are kept of a plugin's stderr.
	maxDiagnostics = 16 << 10

	// A plugin whose file is being written is tried again, each time as a new command. libcni
	// starts the same command twice, which exec.Cmd of Go 1.26 does not allow.
	busyRetry = 100 * time.Millisecond
	busyTries = 50
)

// ErrOutput is the error of a plugin that wrote more than MaxOutput.
var ErrOutput = fmt.Errorf("result is larger than %d bytes", MaxOutput)

// Exec runs plugins from disk. Its zero value is ready for use, by any number
// of callers at once.
type Exec struct {
	version.PluginDecoder

	// Sweep kills the rest of a plugin's process group once the plugin exited. It is
	// for requests that must leave no process behind, such as STATUS.
	Sweep bool

	// Stderr gets the stderr of each plugin once it exited, if it is set. Errors of
	// writing to it are ignored.
	Stderr io.Writer

	// Patience is how long to wait for the process group of a killed plugin: a process in
	// uninterruptible sleep does not end. Default twice Grace.
	Patience time.Duration

	host host // set by tests, that of the system by default
}

var _ invoke.Exec = (*Exec)(nil)

// FindInPath returns the path of the plugin in the first of the folders that
// has it.
func (e *Exec) FindInPath(plugin string, folders []string) (string, error) {
	return invoke.FindInPath(plugin, folders)
}

// ExecPlugin runs the plugin at path and returns its stdout. If ctx ends
// first, it returns when the plugin's process group has ended, and no later than
// Patience after ctx. Errors are
//
//   - a [types.Error], if the plugin exited with a code other than 0 and a CNI
//     error as its output;
//   - ctx's error, wrapped, if that ended first, with the ids of processes that
//     have not ended after Patience;
//   - ErrOutput, wrapped;
//   - anything else, if the plugin could not be run or failed without an answer.
//
// The request is a span, where ctx has one, with the plugin and its network.
func (e *Exec) ExecPlugin(ctx context.Context, path string, stdin []byte, environ []string) (out []byte, err error) {
	ctx, end := cnispan.Start(ctx, "cni."+command(environ), func() []attribute.KeyValue { return attributes(path, stdin, environ) })
	defer func() { end(err) }()
	for try := 1; ; try++ {
		out, err = e.run(ctx, path, stdin, environ)
		if !errors.Is(err, syscall.ETXTBSY) || try == busyTries {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(busyRetry):
		}
	}
}

func (e *Exec) run(ctx context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("plugin %s was not run: %w", path, err)
	}
	cmd := exec.Command(path)
	cmd.Env = traced(ctx, environ)
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.WaitDelay = Grace

	p, err := start(cmd, e.on(), e.Sweep)
	if err != nil {
		return nil, fmt.Errorf("run plugin %s: %w", path, err)
	}
	err = p.wait(ctx, cmp.Or(e.Patience, 2*Grace))
	stdout, stderr := p.stdout.take(), p.stderr.take()
	if err != nil {
		return nil, fmt.Errorf("plugin %s was killed: %w", path, err)
	}
	if e.Stderr != nil && len(stderr.kept) > 0 {
		_, _ = e.Stderr.Write(stderr.kept)
	}
	if err = verdict(p.err, stdout, stderr); err != nil {
		if said(err) {
			return nil, err
		}
		return nil, fmt.Errorf("plugin %s: %w", path, err)
	}
	return stdout.kept, nil
}

func (e *Exec) on() host {
	if e.host != nil {
		return e.host
	}
	return system
}

// traced adds the trace that the request belongs to, as libcni does.
func traced(ctx context.Context, environ []string) []string {
	carrier := propagation.MapCarrier{}
	propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}).Inject(ctx, carrier)
	environ = slices.Clone(environ)
	for name, value := range carrier {
		environ = append(environ, strings.ToUpper(name)+"="+value)
	}
	return environ
}
