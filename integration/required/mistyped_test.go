// SPDX-License-Identifier: Apache-2.0

package required

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

const (
	mistyped    = "[plugins.'io.containerd.nri.v1.nri'.plugins.must]\nrequird_for = ['pods']\n"
	mistypedKey = "plugins.must.requird_for"
)

// A setting that is mistyped limits nothing, and the log says so where an operator looks.
func TestL20_MistypedSettingIsLoggedAsAnError(t *testing.T) {
	t.Parallel()
	n := StartNode(t, WithConfig(NoRule+mistyped))
	Promise(t, "L20", "the log has a line of level error that names the key", OnStock("it is a warning"), func(t require.TestingT) {
		RequireSoon(t, "the log", func(context.Context) error {
			return HasLogged(n, "level=error", "unknown key", mistypedKey, "io.containerd.nri.v1.nri")
		})
	})
}

// The command that installs asks the real programs, in the root file system of a node.
func TestL20_InstallRejectsAMistypedSetting(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	put := func(name string, content []byte, mode os.FileMode) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, name), content, mode))
	}
	distribution, err := os.ReadFile(filepath.Join(Built, "stock", "bin", "containerd"))
	require.NoError(t, err)
	put("usr/bin/containerd", distribution, 0o755)
	put("dev/null", nil, 0o666)
	put("lib/systemd/system/containerd.service", []byte("[Service]\nExecStart=/usr/bin/containerd\n"), 0o644)
	config := func(text string) { put("etc/containerd/config.toml", []byte("version = 3\n"+text), 0o644) }
	built, err := filepath.Abs(filepath.Join(Built, "bin"))
	require.NoError(t, err)
	installer := filepath.Join(t.TempDir(), "hookline-install")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "../../cmd/hookline-install", "-o", installer, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // it runs in a root file system without libraries
	text, err := build.CombinedOutput()
	require.NoError(t, err, "%s", text)
	install := func(args ...string) (string, error) {
		out, err := exec.CommandContext(t.Context(), installer, append(args, "--root", root)...).CombinedOutput()
		return string(out), err
	}

	config(mistyped)
	out, err := install("install", "--unsigned", "--from", built)
	require.Error(t, err)
	require.Contains(t, out, mistypedKey+" of io.containerd.nri.v1.nri")
	require.NoDirExists(t, filepath.Join(root, "opt", "hookline"), "something is installed")

	config("[plugins.'io.containerd.nri.v1.nri'.plugins.must]\nrequired_for = ['pods']\n")
	out, err = install("install", "--unsigned", "--from", built)
	require.NoError(t, err, out)
	out, err = install("check")
	require.NoError(t, err, out)
	// As systemd runs it before containerd.
	look := exec.CommandContext(t.Context(), "/opt/hookline/bin/hookline-install", "check", "--newer")
	look.Dir, look.SysProcAttr = "/", &syscall.SysProcAttr{Chroot: root}
	said, err := look.CombinedOutput()
	require.NoError(t, err)
	require.Empty(t, string(said), "the build is as new")
	config("[plugins.'io.containerd.nri.v1.nri']\nplugin_right = ['none']\n")
	out, err = install("check")
	require.Error(t, err)
	require.Contains(t, out, "plugin_right of io.containerd.nri.v1.nri")
}
