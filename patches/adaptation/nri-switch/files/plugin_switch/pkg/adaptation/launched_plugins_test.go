// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

// recorderDir is set for a process that is to be the plugin.
const recorderDir = "RECORDER_DIR"

// A recorder is a plugin that writes what it receives to a file. It hangs in Synchronize while there
// is a file "hang".
type recorder struct{ dir string }

func (p recorder) writes(line string) error {
	f, err := os.OpenFile(filepath.Join(p.dir, "record"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintln(f, line)
	return err
}

func (p recorder) Configure(_ context.Context, config, _, _ string) (stub.EventMask, error) {
	return api.ParseEventMask("RunPodSandbox")
}

func (p recorder) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	if err := p.writes("Synchronize"); err != nil {
		return nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(p.dir, "hang")); err != nil {
			return nil, nil
		}
		<-time.After(time.Millisecond)
	}
}

func (p recorder) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.writes("RunPodSandbox " + pod.GetId())
}

// init makes this program the plugin if it is launched as one.
func init() {
	dir := os.Getenv(recorderDir)
	if dir == "" {
		return
	}
	s, err := stub.New(recorder{dir})
	if err == nil {
		err = s.Run(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// launching returns a runtime whose plugin folder has a recorder, and a function that reads its record.
func launching(t *testing.T) (r *nri.Adaptation, dir string, record func() string) {
	dir = t.TempDir()
	plugins := filepath.Join(dir, "plugins")
	require.NoError(t, os.Mkdir(plugins, 0o700))
	program := "#!/bin/sh\n" + recorderDir + "=" + dir + " exec " + os.Args[0] + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(plugins, "10-records"), []byte(program), 0o700))
	list := func(ctx context.Context, cb nri.SyncCB) error {
		_, err := cb(ctx, nil, nil)
		return err
	}
	update := func(context.Context, []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) { return nil, nil }
	r, err := nri.New(defaultRuntimeName, defaultRuntimeVersion, list, update,
		nri.WithPluginPath(plugins), nri.WithSocketPath(filepath.Join(dir, "nri.sock")))
	require.NoError(t, err)
	t.Cleanup(r.Stop)
	return r, dir, func() string {
		content, _ := os.ReadFile(filepath.Join(dir, "record"))
		return strings.ReplaceAll(strings.TrimSpace(string(content)), "\n", ", ")
	}
}

func serves(t *testing.T, r *nri.Adaptation) {
	t.Helper()
	require.Eventually(t, func() bool {
		all := r.PluginStatus()
		return len(all) == 1 && all[0].Synchronized
	}, soon, time.Millisecond)
}

func switched(t *testing.T, r *nri.Adaptation) {
	t.Helper()
	_, err := r.TurnOffPlugin("10-records")
	require.NoError(t, err)
	was, err := r.TurnOnPlugin("10-records")
	require.NoError(t, err)
	require.True(t, was)
}

// exits kills the plugin, and returns as soon as it is no longer shown.
func exits(t *testing.T, r *nri.Adaptation) {
	t.Helper()
	serves(t, r)
	p, err := os.FindProcess(r.PluginStatus()[0].Pid)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
	for deadline := time.Now().Add(soon); len(r.PluginStatus()) > 0; runtime.Gosched() {
		require.True(t, time.Now().Before(deadline), "the plugin is still shown")
	}
}

// A plugin that is turned off before the start is not launched until it is on.
func TestTurnedOffPluginIsNotLaunched(t *testing.T) {
	r, _, record := launching(t)
	_, err := r.TurnOffPlugin("10-records")
	require.NoError(t, err)
	require.NoError(t, r.Start()) // returns once each plugin was tried
	require.Empty(t, record())
	_, err = r.TurnOnPlugin("10-records")
	require.NoError(t, err)
	serves(t, r)
	require.Equal(t, "Synchronize", record())
}

// A plugin that is turned on when the runtime has stopped is not launched.
func TestStoppedRuntimeLaunchesNothing(t *testing.T) {
	r, dir, _ := launching(t)
	require.NoError(t, r.Start())
	_, err := r.TurnOffPlugin("10-records")
	require.NoError(t, err)
	r.Stop()
	launched := filepath.Join(dir, "launched")
	program := "#!/bin/sh\ntouch " + launched + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "plugins", "10-records"), []byte(program), 0o700))
	_, err = r.TurnOnPlugin("10-records")
	require.NoError(t, err)
	require.Never(t, func() bool {
		_, err := os.Stat(launched)
		return err == nil
	}, time.Second, 10*time.Millisecond)
}

// A plugin fails to join, and is turned off and on while it waits for its next try. The runtime stops
// trying when it stops.
func TestStoppedRuntimeTriesNoMore(t *testing.T) {
	r, dir, _ := launching(t)
	program := filepath.Join(dir, "plugins", "10-records")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nexit 1\n"), 0o700))
	require.NoError(t, r.Start()) // returns once each plugin was tried
	switched(t, r)
	r.Stop()
	require.Eventually(t, func() bool {
		stacks := make([]byte, 1<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "(*launched).run")
	}, soon, time.Millisecond)
}

// Whenever it is turned off, one process of the plugin serves when it is on.
func TestTurnedOffPluginIsLaunchedOnce(t *testing.T) {
	for name, disturb := range map[string]func(*testing.T, *nri.Adaptation, string){
		"serves": func(t *testing.T, r *nri.Adaptation, _ string) { serves(t, r) },
		"has just joined, many times": func(t *testing.T, r *nri.Adaptation, _ string) {
			for range 10 {
				switched(t, r)
			}
		},
		"has exited": func(t *testing.T, r *nri.Adaptation, _ string) {
			exits(t, r)
		},
		"has just exited, many times": func(t *testing.T, r *nri.Adaptation, _ string) {
			for range 100 {
				exits(t, r)
				switched(t, r)
			}
		},
		"hangs in Synchronize": func(t *testing.T, r *nri.Adaptation, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "hang"), nil, 0o600))
			switched(t, r)
			require.Eventually(t, func() bool {
				all := r.PluginStatus()
				return len(all) == 1 && all[0].Current == "Synchronize"
			}, soon, time.Millisecond)
			_, err := r.TurnOffPlugin("10-records")
			require.NoError(t, err)
			require.NoError(t, os.Remove(filepath.Join(dir, "hang")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, dir, record := launching(t)
			require.NoError(t, r.Start())
			disturb(t, r, dir)
			switched(t, r)
			serves(t, r)
			// A second process would be launched within the longest wait between two tries.
			require.Never(t, func() bool { return len(r.PluginStatus()) != 1 }, time.Second, 10*time.Millisecond)
			run(t, r, "pod")
			require.Equal(t, 1, strings.Count(record(), "RunPodSandbox pod"), record())
		})
	}
}
