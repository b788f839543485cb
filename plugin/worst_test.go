// SPDX-License-Identifier: Apache-2.0

package plugin_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/plugin"
	"github.com/hookline-nri/hookline/plugin/plugintest"
)

func TestPodsCopeWithTheWorst(t *testing.T) {
	plugintest.Worst(t, func(t *testing.T) plugintest.Subject {
		f := newFiles(t.TempDir())
		f.flags |= os.O_EXCL // take does not come for a pod that has its file
		return plugintest.Subject{Run: f.run, Held: f.held}
	})
}

// The same plugin as a process that is killed each time.
func TestPodsCopeWithTheWorstThoughKilled(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	plugintest.Worst(t, func(t *testing.T) plugintest.Subject {
		folder := t.TempDir()
		start := func(ctx context.Context, socket string) error {
			process := exec.CommandContext(ctx, program)
			process.Env = append(os.Environ(), filesFolder+"="+folder, filesSocket+"="+socket)
			process.Stderr = os.Stderr
			if err := process.Run(); ctx.Err() == nil {
				return fmt.Errorf("the plugin has ended: %w", err)
			}
			return nil
		}
		return plugintest.Subject{Run: start, Held: newFiles(folder).held}
	})
}

// The environment of a process that is the plugin of files.
const (
	filesFolder = "PLUGIN_TEST_FOLDER"
	filesSocket = "PLUGIN_TEST_SOCKET"
)

// files is a plugin that makes a file for each pod.
type files struct {
	folder, records string
	flags           int // for opening a file
}

func newFiles(folder string) files {
	return files{filepath.Join(folder, "files"), filepath.Join(folder, "records"), os.O_CREATE}
}

func (f files) run(ctx context.Context, socket string) error {
	if err := os.MkdirAll(f.folder, 0o700); err != nil {
		return err
	}
	pods, err := plugin.OpenPods(ctx, f.records, f.take, f.free)
	if err != nil {
		return err
	}
	p := plugin.Plugin{Index: "50", Name: "files", Socket: socket, Handler: pods}
	return p.Run(ctx)
}

func (f files) take(_ context.Context, pod *api.PodSandbox) (string, error) {
	name := filepath.Join(f.folder, pod.GetId())
	file, err := os.OpenFile(name, f.flags, 0o600)
	if err != nil {
		return "", err
	}
	return name, file.Close()
}

func (f files) free(_ context.Context, id, _ string) error {
	return os.RemoveAll(filepath.Join(f.folder, id))
}

func (f files) held() (ids []string, err error) {
	entries, err := os.ReadDir(f.folder)
	if errors.Is(err, fs.ErrNotExist) { // the plugin has not started yet
		return nil, nil
	}
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	return ids, err
}
