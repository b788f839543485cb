// SPDX-License-Identifier: Apache-2.0

package sandbox

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func creating(id string) Sandbox { return NewSandbox(Metadata{ID: id}, Status{State: StateUnknown}) }

func TestCreationIsListedUntilItsEnd(t *testing.T) {
	var c Creations
	first := c.Begin(creating("first"))
	second := c.Begin(creating("second"))
	changed := creating("first")
	changed.NetNSPath = "/run/netns/first"
	first.Update(changed)

	list := c.List()
	require.Len(t, list, 2)
	require.Equal(t, "/run/netns/first", list[0].NetNSPath)
	require.False(t, list[0].Since.IsZero())
	require.True(t, c.Has("first"))

	first.End()
	require.False(t, c.Has("first"))
	second.End()
	require.Empty(t, c.List())
}
