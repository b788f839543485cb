// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

// missedWait is how much longer the end of a pod may take while a plugin is disconnected: its
// removal waits until the file of missed events is on the disk.
const missedWait = 2 * time.Millisecond

// missed measures the cost of missed events (L18): the time of a pod's stop and removal while its
// plugin is disconnected.
func (b *bench) missed(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	row := func(what string, gone int) Row {
		return Row{What: "StopPodSandbox and RemovePodSandbox, " + what, Name: fmt.Sprintf("EndPod/disconnected=%d", gone), Unit: "sec/op"}
	}
	connected, gone := row("one plugin, connected", 0), row("one plugin, disconnected", 1)
	defer b.step("%d pods of each, one at a time, with and without the plugin", b.Counts.Runs)()
	for turn := range b.Counts.Runs {
		if err := p.turn(turn, func(s *side) error { return s.missed(ctx, turn, connected.of(s), gone.of(s)) }); err != nil {
			return nil, err
		}
	}
	if err := p.patched.missesAll(ctx, b.Counts.Runs); err != nil {
		return nil, err
	}
	connected.Goals = []Goal{ratioAtMost(1.03, connected.Patched, connected.Stock, "stock")}
	limit := connected.Patched.median() + missedWait.Seconds()
	gone.Goals = []Goal{gone.atMost(limit, fmt.Sprintf(", %s more than with the plugin", missedWait))}
	return []Row{connected, gone}, nil
}

// missed ends a pod while its plugin is connected, and another one while it is disconnected. Each
// turn has a plugin of another name, so that its missed events stay.
func (s *side) missed(ctx context.Context, turn int, connected, gone *Sample) error {
	defer s.disconnect()
	p := plugin.New("10", fmt.Sprintf("turn-%d", turn))
	if err := s.connect(ctx, p); err != nil {
		return err
	}
	var ids [2]string
	for i := range ids {
		id, err := s.CRI().RunPod(ctx, s.CRI().Pod(fmt.Sprintf("missed-%d", i)))
		if err != nil {
			return err
		}
		ids[i] = id
	}
	took, err := timed(func() error { return s.end(ctx, ids[0]) })
	if err != nil {
		return err
	}
	connected.add(took)
	s.disconnect()
	if err := s.awaitDisconnected(ctx, p.Name()); err != nil {
		return err
	}
	took, err = timed(func() error { return s.end(ctx, ids[1]) })
	if err != nil {
		return err
	}
	gone.add(took)
	return nil
}

// missedEvents is the part of a verbose status about disconnected plugins.
type missedEvents struct {
	DisconnectedPlugins []struct {
		Name   string
		Missed int
	}
}

func (s *side) readMissed(ctx context.Context) (read missedEvents, err error) {
	status, err := s.CRI().Runtime.Status(ctx, &runtime.StatusRequest{Verbose: true})
	if err != nil {
		return read, err
	}
	return read, json.Unmarshal([]byte(status.GetInfo()["nri"]), &read)
}

// awaitDisconnected waits until the runtime shows a plugin as disconnected, if it shows plugins.
func (s *side) awaitDisconnected(ctx context.Context, name string) error {
	if s.name == stock {
		return nil
	}
	return wait.Until(ctx, "plugin "+name+" to be disconnected", func(ctx context.Context) error {
		read, err := s.readMissed(ctx)
		if err != nil {
			return err
		}
		for _, p := range read.DisconnectedPlugins {
			if p.Name == name {
				return nil
			}
		}
		return errors.New("it is connected")
	})
}

// missesAll checks that all ends were missed and kept, two of each pod.
func (s *side) missesAll(ctx context.Context, pods int) error {
	read, err := s.readMissed(ctx)
	if err != nil {
		return err
	}
	ends := 0
	for _, p := range read.DisconnectedPlugins {
		ends += p.Missed
	}
	if ends != 2*pods {
		return fmt.Errorf("%d missed events of %d pods, want %d", ends, pods, 2*pods)
	}
	return nil
}
