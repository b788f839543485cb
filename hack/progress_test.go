// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A step is one line, with how long it took.
func TestStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		end := newProgress(&out).step("build it")
		require.Equal(t, "build it ...", out.String())
		<-time.After(90 * time.Second)
		end()
		require.Equal(t, "build it ... 90.0s\n", out.String())
	})
}

// On a terminal the time runs along, in the same line.
func TestStepOnTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &buffer{}
		p := newProgress(out)
		p.tick = time.Second
		end := p.step("build it")
		<-time.After(2500 * time.Millisecond)
		synctest.Wait()
		require.Contains(t, out.String(), "\rbuild it ... 2s")
		end()
		require.True(t, strings.HasSuffix(out.String(), "\rbuild it ... 2.5s\n"), out.String())
		require.Equal(t, 1, strings.Count(out.String(), "\n"))
	})
}

// buffer can be written to and read at once.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
