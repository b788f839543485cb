// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
)

var endsAtOnce = onStock("it ends at once, at each start")

// The runtime starts whatever is in the folder of the plugins that it launches, and
// in that of their configurations.
func TestL22_RuntimeStartsWhateverIsInThePluginFolder(t *testing.T) {
	base := t.TempDir()
	plugins, conf := filepath.Join(base, "plugins"), filepath.Join(base, "conf")
	program := func(name, text string) func() error {
		return func() error { return os.WriteFile(filepath.Join(plugins, name), []byte(text), 0o755) }
	}
	fine := func() error { return nil }
	n := startNode(t, func(o *node.Options) {
		o.RegistrationTimeout = time.Second
		o.Config = fmt.Sprintf("version = 4\n[plugins.'io.containerd.nri.v1.nri']\nplugin_path = %q\nplugin_config_path = %q\n", plugins, conf)
	})
	l := newLife(t, n, "kept")
	for _, there := range []struct {
		is    string
		put   func() error
		stock breach
	}{
		{"a program that ends at once", program("10-ends", "#!/bin/sh\nexit 1\n"), keptOnStock},
		{"a program that says nothing", program("10-silent", "#!/bin/sh\nexec sleep 1000\n"), keptOnStock},
		{"no program", program("10-none", "none"), keptOnStock},
		{"named as no plugin is", program("README", "#!/bin/sh\n"), endsAtOnce},
		{"a program with a configuration that cannot be read", func() error {
			return errors.Join(program("10-ends", "#!/bin/sh\nexit 1\n")(), os.MkdirAll(filepath.Join(conf, "10-ends.conf"), 0o755))
		}, endsAtOnce},
		{"a file in place of the folder", func() error {
			return errors.Join(os.Remove(plugins), os.WriteFile(plugins, nil, 0o644))
		}, endsAtOnce},
	} {
		t.Run(there.is, func(t *testing.T) {
			require.NoError(t, n.Kill(withinAMinute(t)))
			errBoot, errJoined := bootWith(t, n, plugins, conf, there.put)
			promise(t, "L22", "the runtime starts, and serves other plugins", there.stock, func(t require.TestingT) {
				require.NoError(t, errBoot)
				assert.NoError(t, errJoined)
			})
		})
	}
	require.NoError(t, n.Kill(withinAMinute(t)))
	errBoot, _ := bootWith(t, n, plugins, conf, fine)
	require.NoError(t, errBoot)
	l.end(t)
}

// bootWith starts the runtime with folders in which there is only what is put
// there, and connects a plugin to it.
func bootWith(t *testing.T, n *node.Node, plugins, conf string, put func() error) (errBoot, errJoined error) {
	t.Helper()
	for _, folder := range []string{plugins, conf} {
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.MkdirAll(folder, 0o755))
	}
	require.NoError(t, put())
	if err := n.Boot(withinAMinute(t)); err != nil {
		return err, nil
	}
	other := plugin.New("90", "other")
	t.Cleanup(other.Crash)
	return nil, other.Connect(withinMoments(t), n.NRISocket())
}
