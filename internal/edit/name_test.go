// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// All that is named after a patch follows from its module and its slug.
func TestNames(t *testing.T) {
	for slug, want := range map[string]struct{ source, value, folder string }{
		"hook-last":    {"patches/app/hook_last.go", "HookLast", "patches/app/files/hook_last"},
		"nri-settings": {"patches/app/nri_settings.go", "NRISettings", "patches/app/files/nri_settings"},
		"network-gc":   {"patches/app/network_gc.go", "NetworkGC", "patches/app/files/network_gc"},
		"waits":        {"patches/app/waits.go", "Waits", "patches/app/files/waits"},
	} {
		p := Patch{Module: "app", Slug: slug}
		require.Equal(t, "app/"+slug, p.Name())
		require.Equal(t, want.source, p.Source())
		require.Equal(t, want.value, p.Value())
		require.Equal(t, want.folder, p.Folder())
	}
}
