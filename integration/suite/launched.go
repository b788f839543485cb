// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"github.com/stretchr/testify/require"
)

// ConfigLaunching is a configuration by which containerd launches this program as a
// plugin, which writes what it is told to a file.
func ConfigLaunching(t *testing.T, record string) string {
	program, err := os.Executable()
	require.NoError(t, err)
	plugins, conf := t.TempDir(), t.TempDir()
	require.NoError(t, os.Symlink(program, filepath.Join(plugins, "10-launched")))
	require.NoError(t, os.WriteFile(filepath.Join(conf, "launched.conf"), []byte(record), 0o644))
	return fmt.Sprintf("version = 4\n[plugins.'io.containerd.nri.v1.nri']\nplugin_path = %q\nplugin_config_path = %q\n", plugins, conf)
}

// LinesOf is what a plugin has written to its file.
func LinesOf(t require.TestingT, file string) []string {
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// asPlugin is what this program does when the runtime has launched it.
func asPlugin() error {
	s, err := stub.New(&launchedPlugin{})
	if err != nil {
		return err
	}
	return s.Run(context.Background())
}

type launchedPlugin struct{ record string }

func (p *launchedPlugin) Configure(_ context.Context, config, _, _ string) (api.EventMask, error) {
	p.record = config
	return api.ParseEventMask("RunPodSandbox,StopPodSandbox,RemovePodSandbox")
}

func (p *launchedPlugin) Synchronize(_ context.Context, pods []*api.PodSandbox, _ []*api.Container) ([]*api.ContainerUpdate, error) {
	return nil, p.write("Synchronize", len(pods))
}

func (p *launchedPlugin) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.write("RunPodSandbox", pod.GetName())
}

func (p *launchedPlugin) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.write("StopPodSandbox", pod.GetName())
}

func (p *launchedPlugin) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.write("RemovePodSandbox", pod.GetName())
}

func (p *launchedPlugin) write(event string, of any) error {
	file, err := os.OpenFile(p.record, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(file, event, of)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	return err
}
