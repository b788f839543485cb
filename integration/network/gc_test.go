// SPDX-License-Identifier: Apache-2.0

package network

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// Addresses of pods that vanished are freed at the start, if that is set.
func TestN3_AddressesOfPodsThatVanishedAreFreedAtStart(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]struct {
		settings            []string
		cut, lost, collects bool
	}{
		"set":                               {settings: []string{"gc_on_start = true"}, collects: true},
		"not set":                           {},
		"a cached attachment is incomplete": {settings: []string{"gc_on_start = true"}, cut: true},
		"a cached attachment is lost":       {settings: []string{"gc_on_start = true"}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			a := StartAgent(t, s.settings...)
			pod := a.RunPod("stays")
			ip := a.AddressesTaken("blue")[0]
			// The leftovers of a pod that vanished: an address and its attachment.
			gone := filepath.Join(filepath.Join(a.N.Folder(), "cni", "addresses"), "blue", "10.89.0.77")
			require.NoError(t, os.WriteFile(gone, []byte("vanished\r\neth0"), 0o600))
			cached, err := os.ReadFile(filepath.Join(a.N.Attachments(), "blue-"+pod+"-eth0"))
			require.NoError(t, err)
			cached = []byte(strings.ReplaceAll(string(cached), pod, "vanished"))
			require.NoError(t, os.WriteFile(filepath.Join(a.N.Attachments(), "blue-vanished-eth0"), cached, 0o600))
			if s.cut {
				file := filepath.Join(a.N.Attachments(), "blue-cut-eth0")
				require.NoError(t, os.WriteFile(file, []byte(`{"kind": "cniC`), 0o600))
			}
			if s.lost {
				require.NoError(t, os.Remove(filepath.Join(a.N.Attachments(), "blue-"+pod+"-eth0")))
			}
			require.NoError(t, a.N.Kill(WithinAMinute(t)))
			before := a.TimesAsked("GC", "")
			require.NoError(t, a.N.Boot(WithinAMinute(t)))
			more := a.RunPod("more") // waits for the collection
			if s.collects {
				Promise(t, "N3", "GC runs once, and frees the leftovers of a pod that vanished", OnStock("it has no garbage collection"), func(t require.TestingT) {
					assert.Equal(t, before+1, a.TimesAsked("GC", ""))
					assert.NoFileExists(t, gone)
				})
			} else {
				Promise(t, "N3", "GC does not run, and nothing is freed", KeptOnStock, func(t require.TestingT) {
					assert.Equal(t, before, a.TimesAsked("GC", ""))
					assert.FileExists(t, gone)
				})
			}
			assert.Contains(t, a.AddressesTaken("blue"), ip)
			assert.GreaterOrEqual(t, len(a.AddressesTaken("blue")), 2)
			a.RequirePodEnds(t, more)
			a.RequirePodEnds(t, pod)
		})
	}
}
