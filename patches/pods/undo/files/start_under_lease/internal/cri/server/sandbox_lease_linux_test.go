// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What a sandbox has is created under its own lease, which goes with it.
func TestSandboxIsStartedUnderItsOwnLease(t *testing.T) {
	v := runVanishing(t)
	require.NotEmpty(t, v.id)
	require.Equal(t, v.id, v.lease)
}
