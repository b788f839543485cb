// SPDX-License-Identifier: Apache-2.0

package podresources

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
)

func TestParseQuantity(t *testing.T) {
	for text, want := range map[string]string{
		"0":                   "0",
		"0.5":                 "500m",
		"1e3":                 "1k",
		"1E+03":               "1000",
		"1e-003":              "1m",
		"1Gi":                 "1073741824",
		"1E":                  "1000000000000000000",
		"1152921504606846975": "1152921504606846975", // 1Ei - 1
		"1n":                  "1n",
		"0e99":                "0",
	} {
		q, err := ParseQuantity(text)
		require.NoError(t, err, text)
		require.Zero(t, q.Cmp(resource.MustParse(want)), text)
	}
	_, err := ParseQuantity("1152921504606846976")
	require.EqualError(t, err, `quantity "1152921504606846976": want less than 1Ei`)
}

// A Quantity caches its text, and quantities of many pods must not share it.
func TestParseQuantityConcurrently(t *testing.T) {
	var pods sync.WaitGroup
	for range 4 {
		pods.Add(1)
		go func() {
			defer pods.Done()
			if _, err := ParseQuantity("2Ei"); err == nil {
				t.Error("2Ei is not too much")
			}
		}()
	}
	pods.Wait()
}
