// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/script"
)

var endsAtOnce = OnStock("the runtime ends at once, at each start")

// The runtime starts whatever is in the folder of the plugins that it launches, or in the folder of
// their configurations.
func TestL22_RuntimeStartsWhateverIsInThePluginFolder(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	plugins, conf := filepath.Join(base, "plugins"), filepath.Join(base, "conf")
	self, err := os.Executable()
	require.NoError(t, err)
	record := filepath.Join(base, "record")
	program := func(name, text string) func() error { // beside a correct plugin
		return func() error {
			return errors.Join(
				script.Write(filepath.Join(plugins, name), text),
				os.Symlink(self, filepath.Join(plugins, "20-launched")),
				os.WriteFile(filepath.Join(conf, "launched.conf"), []byte(record), 0o644))
		}
	}
	fine := func() error { return nil }
	n := StartNode(t, func(o *node.Options) {
		o.RegistrationTimeout = 5 * time.Second // the cost of a silent plugin, and the time of each to start
		o.Config = fmt.Sprintf("version = 4\n[plugins.'io.containerd.nri.v1.nri']\nplugin_path = %q\nplugin_config_path = %q\n", plugins, conf)
	})
	l := NewLife(t, n, "kept")
	for _, state := range []struct {
		is    string
		put   func() error
		stock Breach
		alone bool // no other plugin can be in the folder
	}{
		{"a program that ends at once", program("10-ends", "#!/bin/sh\nexit 1\n"), KeptOnStock, false},
		{"a silent program", program("10-silent", "#!/bin/sh\nexec sleep 1000\n"), KeptOnStock, false},
		{"no program", program("10-none", "none"), KeptOnStock, false},
		{"a name that no plugin has", program("README", "#!/bin/sh\n"), endsAtOnce, false},
		{"a program with a configuration that cannot be read", func() error {
			return errors.Join(program("10-ends", "#!/bin/sh\nexit 1\n")(), os.MkdirAll(filepath.Join(conf, "10-ends.conf"), 0o755))
		}, endsAtOnce, false},
		{"a file in place of the folder", func() error {
			return errors.Join(os.Remove(plugins), os.WriteFile(plugins, nil, 0o644))
		}, endsAtOnce, true},
	} {
		t.Run(state.is, func(t *testing.T) {
			require.NoError(t, n.Kill(WithinAMinute(t)))
			require.NoError(t, os.RemoveAll(record))
			errBoot, errJoined := bootWith(t, n, plugins, conf, state.put)
			Promise(t, "L22", "the runtime starts, and serves other plugins", state.stock, func(t require.TestingT) {
				require.NoError(t, errBoot)
				assert.NoError(t, errJoined)
				if !state.alone {
					assert.Equal(t, []string{"Synchronize 1"}, LinesOf(t, record))
				}
			})
		})
	}
	require.NoError(t, n.Kill(WithinAMinute(t)))
	errBoot, _ := bootWith(t, n, plugins, conf, fine)
	require.NoError(t, errBoot)
	l.End(t)
}

// bootWith starts the runtime with folders that have only what put writes, and connects a plugin to
// it.
func bootWith(t *testing.T, n *node.Node, plugins, conf string, put func() error) (errBoot, errJoined error) {
	t.Helper()
	for _, folder := range []string{plugins, conf} {
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.MkdirAll(folder, 0o755))
	}
	require.NoError(t, put())
	if err := n.Boot(WithinAMinute(t)); err != nil {
		return err, nil
	}
	other := plugin.New("90", "other")
	t.Cleanup(other.Crash)
	return nil, other.Connect(WithinMoments(t), n.NRISocket())
}

// The runtime starts even if something was left at the path of its socket.
func TestL22_RuntimeStartsWhateverIsInPlaceOfItsSocket(t *testing.T) {
	t.Parallel()
	n := StartNode(t)
	require.NoError(t, n.Kill(WithinAMinute(t)))
	require.NoError(t, os.RemoveAll(n.NRISocket()))
	require.NoError(t, os.MkdirAll(filepath.Join(n.NRISocket(), "left"), 0o755))
	ctx := WithinAMinute(t)
	booted := InBackground(func() error { return n.Boot(ctx) })
	Promise(t, "L22", "the runtime starts, and listens once it can", endsAtOnce, func(t require.TestingT) {
		RequireSoon(t, "CRI", func(ctx context.Context) error {
			_, err := n.CRI().Runtime.Version(ctx, &runtime.VersionRequest{})
			return err
		})
		// Both at once, since the runtime removes an empty folder.
		require.NoError(t, os.Rename(n.NRISocket(), n.NRISocket()+".aside"))
		require.NoError(t, <-booted)
	})
}
