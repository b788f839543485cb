// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Tests that need a running containerd are not among those that go test runs.
func TestSuiteIsApart(t *testing.T) {
	c := Commit{Files: map[string][]byte{
		"integration/nri_stop_test.go":       []byte("package integration\n\nfunc TestStop(t *testing.T) {}\n"),
		"integration/client/client_test.go":  []byte("package client\n\nfunc TestClient(t *testing.T) {}\n"),
		"internal/cri/server/stop_test.go":   []byte("package server\n\nfunc TestServer(t *testing.T) {}\n"),
		"internal/cri/server/integration.go": []byte("package server\n"),
	}}
	require.Equal(t, []string{"TestClient", "TestServer"}, testsOf(unitFiles(c)))
	require.Len(t, c.Files, 4, "the commit itself is as it was")
	require.Equal(t, []string{"TestStop"}, SuiteTests(Tree{Commits: []Commit{c}}))
	require.Equal(t, []string{"example.com/m/internal/cri/server"},
		unitPackages([]string{"example.com/m/integration", "example.com/m/internal/cri/server"}))
}
