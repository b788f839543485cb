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

// missedWait is what the end of a pod may take longer when a plugin is disconnected: its removal waits
// until the file of missed events is on the disk.
const missedWait = 2 * time.Millisecond

// owed is what the end of a pod costs whose plugin is disconnected (L18), by the time that
// its stop and removal take.
func (b *bench) missed(ctx context.Context) (_ []Row, retErr error) {
	p, err := b.warmed(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { retErr = errors.Join(retErr, p.close()) }()
	row := func(what string, gone int) Row {
		return Row{What: "StopPodSandbox and RemovePodSandbox, " + what, Name: fmt.Sprintf("EndPod/disconnected=%d", gone), Unit: "sec/op"}
	}
	there, gone := row("the one plugin is there", 0), row("it is disconnected", 1)
	defer b.step("%d pods of each, one at a time, with and without the plugin", b.Counts.Runs)()
	for turn := range b.Counts.Runs {
		if err := p.turn(turn, func(s *side) error { return s.missed(ctx, turn, there.of(s), gone.of(s)) }); err != nil {
			return nil, err
		}
	}
	if err := p.patched.missesAll(ctx, b.Counts.Runs); err != nil {
		return nil, err
	}
	there.Goals = []Goal{ratioAtMost(1.03, there.Patched, there.Stock, "stock")}
	limit := there.Patched.median() + missedWait.Seconds()
	gone.Goals = []Goal{gone.atMost(limit, fmt.Sprintf(", %s more than with the plugin", missedWait))}
	return []Row{there, gone}, nil
}

// missed events a pod while its plugin is there, and another while that is disconnected. Each turn has
// a plugin of another name, so that what is owed is kept.
func (s *side) missed(ctx context.Context, turn int, there, gone *Sample) error {
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
	there.add(took)
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

// missedEvents is what a verbose status says of plugins that are disconnected.
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

// awaitDisconnected waits until the runtime has noticed that a plugin has gone, if it shows that.
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
		return errors.New("it is not")
	})
}

// missesAll checks that all ends are owed, each pod's two: what was measured is what is kept.
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
		return fmt.Errorf("%d ends of %d pods are owed, want %d", ends, pods, 2*pods)
	}
	return nil
}
