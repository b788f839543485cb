// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"os"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/wait"
)

var errNoCommands = errors.New("no commands to stop and start the runtime were given")

func (a *attached) Stop(ctx context.Context) error { return a.ends(ctx, "stop", a.options.Stop) }
func (a *attached) Kill(ctx context.Context) error { return a.ends(ctx, "kill", a.options.Kill) }

// ends ends the runtime, and returns once it no longer answers.
func (a *attached) ends(ctx context.Context, what string, end func(context.Context) error) (err error) {
	if end == nil {
		return errNoCommands
	}
	start := time.Now()
	defer func() { a.calls.did(what, start, err) }()
	if err := end(ctx); err != nil {
		return err
	}
	return wait.Until(ctx, "the runtime to be gone", func(ctx context.Context) error {
		if a.answers(ctx) == nil {
			return errors.New("it answers")
		}
		return nil
	})
}

// Boot starts the runtime again, and returns when it answers.
func (a *attached) Boot(ctx context.Context) (err error) {
	if a.options.Boot == nil {
		return errNoCommands
	}
	start := time.Now()
	defer func() { a.calls.did("start", start, err) }()
	if err := a.options.Boot(ctx); err != nil {
		return err
	}
	return wait.Until(ctx, "the runtime to answer", a.answers)
}

// answers returns nil if the runtime answers within two seconds.
func (a *attached) answers(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_, err := a.cri.Runtime.Status(ctx, &runtime.StatusRequest{})
	if err != nil {
		return err
	}
	_, err = os.Stat(a.options.NRI)
	return err
}

// restart kills the runtime and starts it again. It waits at most two minutes for an answer.
func (a *attached) restart(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	_ = a.options.Kill(ctx) // it may be gone already
	return a.Boot(ctx)
}
