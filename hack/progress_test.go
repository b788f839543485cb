// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A step is one line, with how long it took.
func TestStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		end := progress{&out}.step("build it")
		require.Equal(t, "build it ...", out.String())
		<-time.After(90 * time.Second)
		end()
		require.Equal(t, "build it ... 90.0s\n", out.String())
	})
}
