// SPDX-License-Identifier: Apache-2.0

package server

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// The resources of a sandbox are created under its own lease, which is deleted with it.
func TestSandboxIsStartedUnderItsOwnLease(t *testing.T) {
	v := runVanishing(t)
	require.NotEmpty(t, v.id)
	require.Equal(t, v.id, v.lease)
}
