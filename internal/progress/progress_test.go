// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A step is one line, with its duration.
func TestStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		end := New(&out).Step("build it")
		require.Equal(t, "build it ...", out.String())
		<-time.After(90 * time.Second)
		end()
		require.Equal(t, "build it ... 90.0s\n", out.String())
	})
}

// Steps side by side leave each line whole.
func TestSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := New(&out)
		first := p.Step("first")
		<-time.After(time.Second)
		second := p.Step("second")
		<-time.After(time.Second)
		first()
		<-time.After(time.Second)
		second()
		p.Step("third")()
		require.Equal(t, "first ...\nsecond ...\nfirst ... 2.0s\nsecond ... 2.0s\nthird ... 0.0s\n", out.String())
	})
}
