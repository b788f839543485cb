// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A sandbox is being stopped until the last stop of it has ended.
func TestStoppingLastsUntilTheLastStopEnds(t *testing.T) {
	var s Stopping
	require.False(t, s.Has("pod"))
	first, second := s.Begin("pod"), s.Begin("pod")
	first()
	require.True(t, s.Has("pod"))
	require.False(t, s.Has("other"))
	second()
	require.False(t, s.Has("pod"))
}
