// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/stretchr/testify/assert"
)

func TestN1_EachAnswerIsAState(t *testing.T) {
	for name, test := range map[string]struct {
		plugin plugin
		state  State
		code   uint
		says   string
	}{
		"ok":             {says(nil), OK, 0, `network "a" is ready`},
		"not available":  {says(types.NewError(50, "agent is down", "no socket")), NotAvailable, 50, `network "a" takes no pods (CNI error 50), since 2000-01-01T00:00:00Z: agent is down; no socket`},
		"degraded":       {says(types.NewError(51, "no route", "")), Degraded, 51, `network "a" takes no pods and may have limited connectivity (CNI error 51), since 2000-01-01T00:00:00Z: no route`},
		"later":          {says(types.NewError(11, "starting", "")), TryAgain, 11, `network "a" takes no pods now, try again later (CNI error 11), since 2000-01-01T00:00:00Z: starting`},
		"another":        {says(types.NewError(7, "bad config", "")), OtherError, 7, `network "a" answers STATUS with an error (CNI error 7), since 2000-01-01T00:00:00Z: bad config`},
		"without a code": {says(types.NewError(0, "bad", "")), OtherError, 0, `network "a" answers STATUS with an error, since 2000-01-01T00:00:00Z: bad`},
		"fails":          {says(errors.New("exit status 1")), ExecFailed, 0, `network "a" failed STATUS without an answer, since 2000-01-01T00:00:00Z: exit status 1`},
		"hangs":          {hangs, TimedOut, 0, `network "a" did not answer STATUS in time, since 2000-01-01T00:00:00Z: no answer within 5s`},
	} {
		t.Run(name, func(t *testing.T) {
			at(t, map[string]plugin{"a": test.plugin}, Options{FirstWait: time.Minute}, func(t *testing.T, n *node, m *Monitor) {
				s := m.Status(t.Context())
				assert.Equal(t, test.state, s.State)
				assert.Equal(t, test.code, s.Code)
				assert.Equal(t, "a", s.Network)
				assert.Equal(t, test.says, s.String())
				assert.Equal(t, n.began, s.Asked)
				if test.state == OK {
					assert.True(t, s.Ready())
					assert.NoError(t, s.Err())
					return
				}
				assert.False(t, s.Ready())
				var class interface{ Unavailable() }
				assert.ErrorAs(t, s.Err(), &class, "errdefs knows the class by this method")
				assert.ErrorContains(t, s.Err(), test.says)
			})
		})
	}
}

func TestBelow110IsNotAsked(t *testing.T) {
	for _, version := range []string{"", "0.3.1", "1.0.0"} {
		t.Run(version, func(t *testing.T) {
			at(t, map[string]plugin{"a": hangs}, Options{}, func(t *testing.T, n *node, m *Monitor) {
				n.configure(version, "a")
				s := m.Status(t.Context())
				assert.Equal(t, Unsupported, s.State)
				assert.NoError(t, s.Err())
				assert.Empty(t, n.times("a"))
			})
		})
	}
}

func TestNotInitialized(t *testing.T) {
	at(t, nil, Options{}, func(t *testing.T, n *node, m *Monitor) {
		for _, config := range []*gocni.ConfigResult{n.config, {}, nil} {
			n.mu.Lock()
			n.config = config
			n.mu.Unlock()
			s := m.Fresh(t.Context(), time.Second)
			assert.Equal(t, NotInitialized, s.State)
			assert.EqualError(t, s.Err(), "network is not initialized, since 2000-01-01T00:00:00Z: cni plugin not initialized: no network configuration is loaded: unavailable")
		}
	})
}

func TestWorstOfSeveralDecides(t *testing.T) {
	at(t, map[string]plugin{
		"a": says(nil),
		"b": says(types.NewError(11, "starting", "")),
		"c": says(types.NewError(51, "no route", "")),
		"d": says(types.NewError(51, "no route either", "")),
		"e": takes(time.Second, types.NewError(50, "agent is down", "")),
	}, Options{FirstWait: time.Minute}, func(t *testing.T, n *node, m *Monitor) {
		assert.Equal(t, time.Second, took(func() {
			s := m.Status(t.Context())
			assert.Equal(t, Degraded, s.State)
			assert.Equal(t, "c", s.Network)
		}), "they are asked at the same time")

		pass(0)
		var received []string
		for _, s := range n.answers() {
			received = append(received, s.Network+" "+s.State.String())
		}
		assert.Equal(t, []string{"a OK", "b TryAgain", "c Degraded", "d Degraded", "e NotAvailable"}, received)
	})
}

func TestTextIsFitForAnAnswer(t *testing.T) {
	assert.Equal(t, "as it is", clip(" as it is\n"))
	assert.Equal(t, "a\uFFFDb", clip("a\xff\xfeb"))
	for pad := range 4 {
		text := clip(strings.Repeat("x", pad) + strings.Repeat("ä€", maxText))
		assert.LessOrEqual(t, len(text), maxText)
		assert.Greater(t, len(text), maxText-8)
		assert.True(t, utf8.ValidString(text))
		assert.True(t, strings.HasSuffix(text, "…"))
	}
}

// A dashboard finds the states of verbose status under the same names.
func TestLabelIsTheNameInSnakeCase(t *testing.T) {
	for state := Unknown; state <= NotInitialized; state++ {
		assert.Regexp(t, `^[a-z]+(_[a-z]+)*$`, state.Label())
		assert.Equal(t, strings.ToLower(state.String()), strings.ReplaceAll(state.Label(), "_", ""))
	}
	assert.Equal(t, "state_99", State(99).Label())
}
