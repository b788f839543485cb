// SPDX-License-Identifier: Apache-2.0

package metadata

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/containerd/containerd/v2/core/sandbox"
	"github.com/containerd/containerd/v2/pkg/protobuf/types"
	"github.com/containerd/typeurl/v2"
)

// Callers compare the specification of a sandbox with nil to find out whether it has one.
func TestSandboxWithoutSpec(t *testing.T) {
	for name, spec := range map[string]typeurl.Any{
		"not started":                  nil,
		"started, its shim has none":   (*types.Any)(nil),
		"started, its shim's is empty": &types.Any{},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, db := testDB(t)
			store := NewSandboxStore(db)
			_, err := store.Create(ctx, sandbox.Sandbox{ID: "pod", Spec: spec})
			require.NoError(t, err)

			one, err := store.Get(ctx, "pod")
			require.NoError(t, err)
			require.True(t, one.Spec == nil, "%#v", one.Spec)
			require.True(t, one.Runtime.Options == nil, "%#v", one.Runtime.Options)
			all, err := store.List(ctx)
			require.NoError(t, err)
			require.True(t, all[0].Spec == nil, "%#v", all[0].Spec)
		})
	}
}
