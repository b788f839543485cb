// SPDX-License-Identifier: Apache-2.0

package util

import (
	"context"
	"errors"
	"syscall"
	"testing"

	runcoptions "github.com/containerd/containerd/api/types/runc/options"
	"github.com/containerd/typeurl/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/anypb"

	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/plugins"
)

// binary returns options with a program in the place of runc.
func binary(name string) typeurl.Any {
	options, err := typeurl.MarshalAny(&runcoptions.Options{BinaryName: name})
	if err != nil {
		panic(err)
	}
	return options
}

func TestStoppedTaskIsNotKilled(t *testing.T) {
	for name, test := range map[string]struct {
		runtime string
		options typeurl.Any
		status  containerd.ProcessStatus
		err     error
		killed  bool
	}{
		"stopped":                {runtime: plugins.RuntimeRuncV2, status: containerd.Stopped},
		"of runc by its path":    {runtime: plugins.RuntimeRuncV2, options: binary("/opt/bin/runc"), status: containerd.Stopped},
		"in the place of runc":   {runtime: plugins.RuntimeRuncV2, options: binary("crun"), status: containerd.Stopped, killed: true},
		"with options of others": {runtime: plugins.RuntimeRuncV2, options: &anypb.Any{TypeUrl: "none"}, status: containerd.Stopped, killed: true},
		"running":                {runtime: plugins.RuntimeRuncV2, status: containerd.Running, killed: true},
		"not known":              {runtime: plugins.RuntimeRuncV2, status: containerd.Stopped, err: errors.New("no answer"), killed: true},
		"of another runtime":     {runtime: "io.containerd.kata.v2", status: containerd.Stopped, killed: true},
		"of no known runtime":    {status: containerd.Stopped, killed: true},
	} {
		t.Run(name, func(t *testing.T) {
			task := &exited{status: containerd.Status{Status: test.status}, err: test.err}
			kill := WithKillUnlessStopped(ofRuntime{name: test.runtime, options: test.options})
			require.NoError(t, kill(t.Context(), task))
			assert.Equal(t, test.killed, task.killed)
		})
	}
}

type ofRuntime struct {
	containerd.Container
	name    string
	options typeurl.Any
}

func (c ofRuntime) Info(context.Context, ...containerd.InfoOpts) (containers.Container, error) {
	if c.name == "" {
		return containers.Container{}, errors.New("no such container")
	}
	return containers.Container{Runtime: containers.RuntimeInfo{Name: c.name, Options: c.options}}, nil
}

// exited is a task whose process has exited.
type exited struct {
	containerd.Task
	status containerd.Status
	err    error
	killed bool
}

func (*exited) Pid() uint32 { return 1 }

func (e *exited) Status(context.Context) (containerd.Status, error) { return e.status, e.err }

func (*exited) Wait(context.Context) (<-chan containerd.ExitStatus, error) {
	exit := make(chan containerd.ExitStatus)
	close(exit)
	return exit, nil
}

func (e *exited) Kill(context.Context, syscall.Signal, ...containerd.KillOpts) error {
	e.killed = true
	return nil
}
