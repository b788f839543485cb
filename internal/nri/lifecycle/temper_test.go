// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"errors"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"
)

// A temper is how a plugin of a world behaves.
type temper struct {
	wants, events, synchronize string
	failRequest, keepConnected bool
	pace                       time.Duration // time that a slow plugin takes
	nth                        int           // number of the event at which it rejects or crashes
	kind                       Kind          // event in which it hangs, or is late
	listing                    time.Duration // time that the runtime takes to list, for it
}

// masks are sets of events that plugins subscribe to.
var masks = map[string]func(Kind) bool{
	"everything": all,
	"pods":       func(k Kind) bool { return k < CreateContainer },
	"containers": func(k Kind) bool { return k >= CreateContainer },
	"ends":       func(k Kind) bool { return k.Final() },
	"creations":  func(k Kind) bool { return k == RunPodSandbox || k == CreateContainer || k.Removal() },
	"no first":   func(k Kind) bool { return !k.First() },
}

func drawTemper(rt *rapid.T) temper {
	return temper{
		wants:         rapid.SampledFrom([]string{"everything", "everything", "everything", "pods", "containers", "ends", "creations", "no first"}).Draw(rt, "wants"),
		events:        rapid.SampledFrom([]string{"prompt", "prompt", "prompt", "slow", "rejects", "hangs", "crashes", "late", "frozen"}).Draw(rt, "events"),
		synchronize:   rapid.SampledFrom([]string{"prompt", "prompt", "prompt", "slow", "hangs", "rejects", "frozen"}).Draw(rt, "synchronize"),
		failRequest:   rapid.Bool().Draw(rt, "fail_request"),
		keepConnected: rapid.Bool().Draw(rt, "keep_connected"),
		pace:          rapid.SampledFrom([]time.Duration{time.Millisecond, 500 * time.Millisecond, 1900 * time.Millisecond}).Draw(rt, "pace"),
		nth:           rapid.IntRange(2, 7).Draw(rt, "nth"),
		listing:       rapid.SampledFrom([]time.Duration{0, 0, time.Millisecond, time.Second}).Draw(rt, "listing"),
		kind:          Kind(rapid.IntRange(int(RunPodSandbox), int(RemoveContainer)).Draw(rt, "kind")),
	}
}

// plugin makes a plugin of that temper.
func (t temper) plugin(name string) *simPlugin {
	p := &simPlugin{plugin: newPlugin(name), listing: t.listing, passed: make(map[ledger.ID]bool)}
	p.mask = t.wants
	p.wants, p.failRequest, p.keepConnected = masks[t.wants], t.failRequest, t.keepConnected
	switch t.events {
	case "slow":
		p.handle = func(ctx context.Context, _ Event) (any, error) { return nil, pause(ctx, t.pace) }
	case "rejects":
		p.handle = func(context.Context, Event) (any, error) {
			if p.count()%t.nth == 0 {
				return nil, errRejected
			}
			return nil, nil
		}
	case "hangs":
		p.hang(t.kind, StopPodSandbox)
	case "late":
		// Like a plugin that knows nothing of deadlines.
		p.handle = func(_ context.Context, ev Event) (any, error) {
			if ev.Kind == t.kind || ev.Kind == RunPodSandbox {
				p.stall(t.pace + requestTimeout)
			}
			return nil, nil
		}
	case "frozen":
		// Like a plugin whose process was stopped: it does not read either.
		p.handle = func(_ context.Context, ev Event) (any, error) {
			if p.count()%t.nth == 0 {
				<-p.closed
			}
			return nil, nil
		}
	case "crashes":
		p.handle = func(context.Context, Event) (any, error) {
			if p.count()%t.nth == 0 {
				p.Close()
				return nil, errors.New("broken pipe")
			}
			return nil, nil
		}
	}
	switch t.synchronize {
	case "slow":
		p.synchronize = func(ctx context.Context, _ Snapshot) error { return pause(ctx, t.pace) }
	case "hangs":
		p.synchronize = func(ctx context.Context, _ Snapshot) error {
			<-ctx.Done()
			return ctx.Err()
		}
	case "frozen":
		p.synchronize = func(context.Context, Snapshot) error {
			<-p.closed
			return ErrClosed
		}
	case "rejects":
		p.synchronize = func(context.Context, Snapshot) error { return errRejected }
	}
	// A caller that waits for a prompt plugin waits for the engine.
	p.prompt = slices.Contains([]string{"prompt", "rejects", "crashes"}, t.events) &&
		slices.Contains([]string{"prompt", "rejects"}, t.synchronize) && t.listing == 0
	return p
}
