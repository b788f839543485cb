// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/api"

	"github.com/hookline-nri/hookline/integration/cluster/record"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// The annotations of a pod that the plugin follows.
const (
	reject   = "e2e.hookline.dev/reject"    // the message with which it rejects RunPodSandbox
	hangStop = "e2e.hookline.dev/hang-stop" // any value: it does not answer StopPodSandbox before it ends
	holdRun  = "e2e.hookline.dev/hold-run"  // it does not answer RunPodSandbox before this file exists
)

var events = []plugin.Event{
	plugin.Configure, plugin.Synchronize, plugin.RunPodSandbox, plugin.UpdatePodSandbox, plugin.PostUpdatePodSandbox,
	plugin.CreateContainer, plugin.PostCreateContainer, plugin.StartContainer, plugin.PostStartContainer,
	plugin.UpdateContainer, plugin.PostUpdateContainer, plugin.StopContainer, plugin.RemoveContainer,
	plugin.StopPodSandbox, plugin.RemovePodSandbox,
}

// hooks are the events that take the time of -work.
var hooks = map[plugin.Event]bool{
	plugin.RunPodSandbox: true, plugin.CreateContainer: true, plugin.StartContainer: true,
	plugin.StopContainer: true, plugin.StopPodSandbox: true,
}

func runPlugin(args []string) error {
	flags := flag.NewFlagSet("plugin", flag.ExitOnError)
	socket := flags.String("socket", "/var/run/nri/nri.sock", "NRI socket")
	index := flags.String("index", "50", "position among plugins")
	name := flags.String("name", "e2e", "name of the plugin")
	file := flags.String("record", "", "file to which it appends its record")
	work := flags.Duration("work", 0, "how long each hook takes")
	late := flags.Duration("late", 0, "how long it waits before it registers")
	noUpdate := flags.String("reject-updates-without", "", "file without which it rejects updates of containers")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(*file), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(*file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	r := &recorder{process: strconv.FormatInt(time.Now().UnixNano(), 36), out: out, work: *work, noUpdate: *noUpdate}
	p := plugin.New(*index, *name)
	for _, event := range events {
		p.On(event, r.reply)
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(*late):
	}
	for ctx.Err() == nil {
		if err := serve(ctx, p, *socket); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond): // containerd may be restarting
		}
	}
	return nil
}

// connected is a file that exists while the plugin is connected.
const connected = "/connected"

func isReady([]string) error {
	_, err := os.Stat(connected)
	return err
}

// serve is one connection.
func serve(ctx context.Context, p *plugin.Plugin, socket string) error {
	if err := p.Connect(ctx, socket); err != nil {
		return err
	}
	if err := os.WriteFile(connected, nil, 0o600); err != nil {
		return err
	}
	select {
	case <-p.Closed():
	case <-ctx.Done():
		p.Crash()
	}
	return os.Remove(connected)
}

type recorder struct {
	process  string
	work     time.Duration
	noUpdate string // file without which it rejects updates of containers, if not empty

	mu     sync.Mutex // guards number and the order of lines
	number int
	out    *os.File
}

// reply records an event, and answers it as its pod says.
func (r *recorder) reply(_ context.Context, call *plugin.Call) error {
	r.mu.Lock()
	r.number++
	line := record.Begin(r.process, r.number, call)
	r.write(line)
	r.mu.Unlock()
	err := r.answer(call.Event, call.Pod)
	r.mu.Lock()
	r.write(line.Ended(err))
	r.mu.Unlock()
	return err
}

// write needs r.mu. If it cannot write the record, the plugin is useless and ends.
func (r *recorder) write(l record.Line) {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = r.out.Write(append(text, '\n'))
	}
	if err != nil {
		panic(err)
	}
}

func (r *recorder) answer(event plugin.Event, pod *api.PodSandbox) error {
	received := pod.GetAnnotations()
	if hooks[event] {
		<-time.After(r.work)
	}
	switch event {
	case plugin.RunPodSandbox:
		if file := received[holdRun]; file != "" {
			_ = wait.Until(context.Background(), "file "+file, func(context.Context) error { // also after the request was canceled
				_, err := os.Stat(file)
				return err
			})
		}
		if words := received[reject]; words != "" {
			return errors.New(words)
		}
	case plugin.UpdateContainer:
		if _, err := os.Stat(r.noUpdate); r.noUpdate != "" && err != nil {
			return errors.New("no room for this update")
		}
	case plugin.StopPodSandbox:
		if received[hangStop] != "" {
			select {}
		}
	}
	return nil
}
