// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The generated code in git is that of "make proto".
func TestGeneratedCodeIsUpToDate(t *testing.T) {
	for module, source := range map[string]string{
		"podresources": "internal/cri/podresources/resources.proto",
		"plugin":       "podnetwork/podnetwork.proto",
	} {
		fresh := t.TempDir()
		generate := exec.CommandContext(t.Context(), "go", "run", "-C", filepath.Join("tools", "proto"), ".", "--out", fresh, module, source)
		out, err := generate.CombinedOutput()
		require.NoError(t, err, string(out))

		generated := strings.TrimSuffix(filepath.Base(source), ".proto") + ".pb.go"
		want, err := os.ReadFile(filepath.Join(fresh, generated))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join("..", module, filepath.Dir(source), generated))
		require.NoError(t, err)
		if string(want) != string(got) {
			t.Errorf("%s is not generated from %s: run make proto", generated, source)
		}
	}
}
