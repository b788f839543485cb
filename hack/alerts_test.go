// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/monitoring"
)

// The words of the log that the runbook quotes are in the code that goes into containerd.
func TestRunbookQuotesTheLog(t *testing.T) {
	var code strings.Builder
	for _, folder := range []string{"../patches", "../internal/nri", "../internal/cri"} {
		require.NoError(t, fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(os.DirFS(folder), name)
			code.Write(text)
			return err
		}))
	}
	for _, a := range monitoring.Alerts {
		require.Contains(t, code.String(), a.Log, a.Name)
	}
}
