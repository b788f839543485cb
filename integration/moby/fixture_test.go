// SPDX-License-Identifier: Apache-2.0

package moby

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/integration/peers"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// Variables with the paths of programs.
const (
	dockerd    = "DOCKERD"    // folder of dockerd
	containerd = "CONTAINERD" // folder of containerd and its shim
	tools      = "TOOLS"      // folder of runc
)

var pause string // the program of containers

func TestMain(m *testing.M) {
	if acted, err := plugin.Act(); acted {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	for _, name := range []string{dockerd, containerd, tools} {
		if os.Getenv(name) == "" {
			fmt.Fprintf(os.Stderr, "%s is not set, a folder of programs: make peers runs these tests\n", name)
			os.Exit(1)
		}
	}
	os.Exit(image.RunTests(m, &pause))
}

// daemon is the daemon of one test.
type daemon struct {
	*peers.Moby
	t *testing.T
}

func start(t *testing.T) daemon {
	t.Helper()
	m, err := peers.StartMoby(within(t, time.Minute), peers.MobyOptions{
		Bin: os.Getenv(dockerd), Containerd: os.Getenv(containerd), Tools: os.Getenv(tools), Pause: pause,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		if t.Failed() {
			log, err := m.Log()
			t.Logf("the daemon's log (%v):\n%s", err, log[max(0, len(log)-8000):])
		}
		require.NoError(t, m.Close())
	})
	return daemon{m, t}
}

func within(t *testing.T, patience time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// try creates a container.
func (d daemon) try(ctx context.Context, name string, change ...func(*container.HostConfig)) (id string, err error) {
	host := &container.HostConfig{NetworkMode: "none"}
	for _, f := range change {
		f(host)
	}
	created, err := d.Client().ContainerCreate(ctx, client.ContainerCreateOptions{Name: name, Image: image.Name, HostConfig: host})
	return created.ID, err
}

// create creates a container, which must succeed, and returns how long that took.
func (d daemon) create(name string) (id string, took time.Duration) {
	d.t.Helper()
	began := time.Now()
	id, err := d.try(within(d.t, time.Minute), name)
	require.NoError(d.t, err)
	return id, time.Since(began)
}

func (d daemon) remove(id string) {
	d.t.Helper()
	_, err := d.Client().ContainerRemove(within(d.t, time.Minute), id, client.ContainerRemoveOptions{Force: true})
	require.NoError(d.t, err)
}

// has returns the ids of the daemon's containers.
func (d daemon) has() []string {
	d.t.Helper()
	list, err := d.Client().ContainerList(within(d.t, time.Minute), client.ContainerListOptions{All: true})
	require.NoError(d.t, err)
	ids := []string{}
	for _, c := range list.Items {
		ids = append(ids, c.ID)
	}
	slices.Sort(ids)
	return ids
}

// join connects a plugin.
func (d daemon) join(p *plugin.Plugin) *plugin.Plugin {
	d.t.Helper()
	require.NoError(d.t, p.Connect(within(d.t, time.Minute), d.NRISocket()))
	return p
}

// received returns the containers that a plugin received in its last Synchronize and since.
func received(p interface{ Calls() plugin.Calls }) []string {
	ids := []string{}
	for _, call := range p.Calls().Latest() {
		for _, c := range call.Containers {
			ids = append(ids, c.GetId())
		}
		if call.Event == plugin.CreateContainer && call.Err == nil {
			ids = append(ids, call.Container.GetId())
		}
	}
	slices.Sort(ids)
	return ids
}

// env is a Reply that adds a variable to each container.
func env(_ context.Context, call *plugin.Call) error {
	call.Adjust = &api.ContainerAdjustment{}
	call.Adjust.AddEnv("FROM_PLUGIN", "yes")
	return nil
}

// requireEnv requires that a container has the plugin's variable once.
func (d daemon) requireEnv(id string) {
	d.t.Helper()
	got, err := d.Client().ContainerInspect(within(d.t, time.Minute), id, client.ContainerInspectOptions{})
	require.NoError(d.t, err)
	count := 0
	for _, variable := range got.Container.Config.Env {
		if variable == "FROM_PLUGIN=yes" {
			count++
		}
	}
	require.Equal(d.t, 1, count, "variables of the plugin in %v", got.Container.Config.Env)
}
