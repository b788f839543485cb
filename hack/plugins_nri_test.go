// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/host"
)

func TestSampleBuilds(t *testing.T) {
	a := &app{config: config{root: ".."}}
	builds, err := a.sampleBuilds("source", "to/")
	require.NoError(t, err)
	over := map[string]int{}
	for _, b := range builds {
		over[b.folder]++
		pins, err := os.ReadFile(strings.TrimPrefix(b.args[0], "-modfile="))
		require.NoError(t, err)
		_, version, _ := strings.Cut(b.what, " over ")
		require.Contains(t, string(pins), "github.com/containerd/nri "+version+"\n", "the report has the version")
	}
	require.Equal(t, map[string]int{
		"source/plugins/logger": 6, "source/plugins/device-injector": 5,
		"source/plugins/hook-injector": 1, "source/plugins/network-device-injector": 1, "source/plugins/ulimit-adjuster": 1,
	}, over)
}

func TestDebianSources(t *testing.T) {
	if _, err := exec.LookPath("apt-get"); err != nil && os.Getenv("CI") == "" {
		t.Skip("no apt-get in PATH")
	}
	folder := t.TempDir()
	list, settings := filepath.Join(folder, "sources.list"), filepath.Join(folder, "apt.conf")
	require.NoError(t, os.WriteFile(settings, fmt.Appendf(nil, "Dir::Etc::SourceList %q;\nDir::Etc::SourceParts \"/dev/null\";\n", list), 0o600))
	t.Setenv("APT_CONFIG", settings)

	others := "deb http://a.test/debian-security stable main\ndeb http://b.test/ubuntu stable main\n"
	require.NoError(t, os.WriteFile(list, []byte(others), 0o600))
	_, err := debianSources(t.Context())
	require.ErrorIs(t, err, host.ErrPrerequisite)
	require.ErrorContains(t, err, "no mirror of Debian")

	require.NoError(t, os.WriteFile(list, []byte(others+"deb http://c.test/debian stable main contrib\n"), 0o600))
	lines, err := debianSources(t.Context())
	require.NoError(t, err)
	require.Equal(t, "deb-src [trusted=yes] http://c.test/debian testing main\n", lines)
}

func TestHasSum(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.False(t, hasSum(file, ""))
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.True(t, hasSum(file, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"))
	require.False(t, hasSum(file, samplesSum))
}
