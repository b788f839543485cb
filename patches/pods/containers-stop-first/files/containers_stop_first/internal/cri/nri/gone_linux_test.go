// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGonePodCanBeRead(t *testing.T) {
	a := NewAPI(&undoRecorder{}, undoCRI{})
	pod := a.nriPodSandbox(gonePod("pod0"))
	require.Equal(t, "pod0", pod.GetID())
	require.Zero(t, pod.GetPid())
}
