// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// FuzzJoin tries only plugins that join while pods and containers are being created, and
// creations that fail. Two bytes are one move: its kind, and how it goes.
func FuzzJoin(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00\x02\x00\x00\x12"))
	f.Add([]byte("\x01\x0f\x40\x25\x03\x01\x01\x00\x00\x40\x02\x13\x03\x02\x02\x00\x00\x21"))
	f.Add([]byte("\x00\x04\x01\x30\x40\x08\x41\x00\x03\x03\x02\x01\x02\x33\x00\x50\x04\x01\x00\x00\x03\x02"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var moves []move
		for n := 0; n+1 < len(data) && n < 128; n += 2 {
			moves = append(moves, decodeMove(n, data[n], data[n+1]))
		}
		for _, s := range []setup{{runtime: patched}, {runtime: patched, keeps: true, hands: true}, {runtime: crio}, {runtime: moby}} {
			if faults := play(t, s, moves); faults != "" {
				t.Fatal(faults)
			}
		}
	})
}

// decodeMove makes a move of two bytes; n makes its names unique.
func decodeMove(n int, what, how byte) move {
	times := []time.Duration{0, time.Millisecond, time.Second, 3 * time.Second}
	c := course{
		before: times[how&3],
		after:  times[how>>2&3],
		fails:  how&0x10 != 0,
		idle:   how&0x20 != 0,
	}
	patience := []time.Duration{0, time.Second}[how>>6&1]
	m := func(w *world) { time.Sleep(times[how&3]) }
	switch what & 7 {
	case 0, 1:
		m = func(w *world) {
			w.join(temper{
				wants:       []string{"everything", "no first", "ends", "creations"}[how&3],
				events:      []string{"prompt", "slow", "rejects", "prompt"}[how>>2&3],
				synchronize: []string{"prompt", "slow", "prompt", "rejects"}[how>>4&3],
				listing:     times[how>>6],
				pace:        times[how>>5&3],
				nth:         3 + int(how&3),
			}.plugin(fmt.Sprintf("%d0-plugin%d", how&3, n)))
		}
	case 2, 3:
		m = func(w *world) {
			p := w.process
			p.op(patience, func(ctx context.Context) { p.runPod(ctx, fmt.Sprintf("p%d", n), c) })
		}
	case 4, 5:
		m = func(w *world) {
			p, pod := w.process, pick(w.podIDs(), int(how))
			p.op(patience, func(ctx context.Context) { p.createContainer(ctx, pod, fmt.Sprintf("c%d", n), c) })
		}
	case 6:
		m = func(w *world) {
			p, pod := w.process, pick(w.podIDs(), int(how))
			p.op(patience, func(ctx context.Context) { p.removePod(ctx, pod, c) })
		}
	}
	settled := what&0x40 != 0
	return func(w *world) {
		m(w)
		if settled {
			synctest.Wait()
		}
	}
}
