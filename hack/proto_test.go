// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The generated code in git is that of "make proto".
func TestGeneratedCodeIsUpToDate(t *testing.T) {
	const source, generated = "internal/cri/podresources/resources.proto", "resources.pb.go"
	fresh := t.TempDir()
	generate := exec.CommandContext(t.Context(), "go", "run", "-C", filepath.Join("tools", "proto"), ".", "--out", fresh, source)
	out, err := generate.CombinedOutput()
	require.NoError(t, err, string(out))

	want, err := os.ReadFile(filepath.Join(fresh, generated))
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join("..", "podresources", filepath.Dir(source), generated))
	require.NoError(t, err)
	if string(want) != string(got) {
		t.Errorf("%s is not generated from %s: run make proto", generated, source)
	}
}
