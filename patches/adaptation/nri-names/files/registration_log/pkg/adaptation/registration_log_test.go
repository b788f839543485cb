// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/containerd/nri/pkg/log"
)

// The lines of a period are bounded. The first line of the next one says how many were left out.
func TestLinesAreBounded(t *testing.T) {
	var b lineBudget
	now := time.Unix(1000, 0)
	for range arrivalLines {
		leftOut, ok := b.take(now)
		require.True(t, ok)
		require.Zero(t, leftOut)
		now = now.Add(time.Millisecond)
	}
	for range 1000 {
		_, ok := b.take(now)
		require.False(t, ok)
	}
	now = now.Add(arrivalPeriod)
	leftOut, ok := b.take(now)
	require.True(t, ok)
	require.Equal(t, 1000, leftOut)
	leftOut, ok = b.take(now)
	require.True(t, ok)
	require.Zero(t, leftOut)
}

// lines keeps lines of the log.
type lines struct {
	mu  sync.Mutex
	all []string
}

func (l *lines) add(_ context.Context, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, fmt.Sprintf(format, args...))
}

func (l *lines) Debugf(ctx context.Context, format string, args ...any) {}
func (l *lines) Infof(ctx context.Context, format string, args ...any)  { l.add(ctx, format, args...) }
func (l *lines) Warnf(ctx context.Context, format string, args ...any)  { l.add(ctx, format, args...) }
func (l *lines) Errorf(ctx context.Context, format string, args ...any) { l.add(ctx, format, args...) }

func (l *lines) taken() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all
}

// logged keeps the log in the lines that it returns.
func logged(t *testing.T) *lines {
	t.Helper()
	was, l := log.Get(), &lines{}
	log.Set(l)
	t.Cleanup(func() { log.Set(was) })
	return l
}

// The log has few and short lines about new connections, whatever they do.
func TestPeersHaveLittleLogged(t *testing.T) {
	l := logged(t)
	r := &Adaptation{}
	for range 1000 {
		p := &plugin{regC: make(chan error, 1), r: r, impl: &pluginType{}, arrived: time.Now()}
		_, err := p.UpdateContainers(context.Background(), &UpdateContainersRequest{})
		require.Equal(t, codes.FailedPrecondition, status.Code(err))
		_, err = p.RegisterPlugin(context.Background(), &RegisterPluginRequest{PluginIdx: "10", PluginName: "logger"})
		require.NoError(t, err)
		r.logPlace(p)
		p.logEndf(noCtx, "closed")
		r.logArrival(log.Errorf, "failed to join: %v", errors.New(strings.Repeat("x", 1<<20)))
	}
	all := l.taken()
	require.Len(t, all, arrivalLines)
	for _, line := range all {
		require.LessOrEqual(t, len(line), arrivalLine+3)
	}
	require.Contains(t, all[0], `registered as "10-logger"`)
	require.Contains(t, all[1], `plugin "10-logger" connected and synchronized`)
	require.Contains(t, all[2], "failed to join")
}

// The log about a plugin that has been connected for longer, or that was launched, has no bound.
func TestPluginsThatStayAreLogged(t *testing.T) {
	l := logged(t)
	r := &Adaptation{}
	for range 2 * arrivalLines {
		r.logArrival(log.Infof, "flood")
	}
	stays := &plugin{r: r, idx: "10", base: "logger", arrived: time.Now().Add(-arrivalPeriod)}
	launched := &plugin{r: r, idx: "20", base: "launched"}
	r.plugins = []*plugin{{idx: "00"}, stays, launched}
	stays.logf(noCtx, "says")
	stays.logEndf(noCtx, "closed")
	r.logPlace(launched)
	require.Equal(t, []string{"says", "closed", `plugin "20-launched" connected and synchronized, #3 of 3`}, l.taken()[arrivalLines:])
}
