// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/podresources"
	"github.com/hookline-nri/hookline/testkit/node"
)

// enforced is a pod on a node that rejects containers that differ.
type enforced struct {
	n      *node.Node
	id     string
	config *runtime.PodSandboxConfig
}

// enforce runs a pod whose three containers are announced.
func enforce(t *testing.T, how string) enforced {
	t.Helper()
	n := StartNode(t, withSetting("pod_resources_check = \"enforce\"\n"+readsAnnotation))
	config := Announced(t, n, how, ThreeContainers())
	id, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.NoError(t, err)
	return enforced{n, id, config}
}

// create creates a container with its own request of CPU, and with further changes.
func (e enforced) create(ctx context.Context, name, cpu string, change func(*runtime.ContainerConfig)) (string, error) {
	config := e.n.CRI().Container(name)
	if err := podresources.SetContainer(config, Requests(cpu, "128Mi")); err != nil {
		return "", err
	}
	if change != nil {
		change(config)
	}
	return e.n.CRI().Create(ctx, e.id, e.config, config)
}

// requireStillCompared checks that a container of the same pod that does differ is rejected.
func (e enforced) requireStillCompared(t *testing.T) {
	t.Helper()
	ctx := WithinAMinute(t)
	Promise(t, "R3", "a container of the same pod that does differ is rejected", OnStock(nothingCompared), func(t require.TestingT) {
		_, err := e.create(ctx, "main", "7", attempt(7))
		requireRejectedFor(t, err, "requests[cpu]: announced ")
	})
}

// attempt sets the attempt of a container that is created again.
func attempt(n uint32) func(*runtime.ContainerConfig) {
	return func(c *runtime.ContainerConfig) { c.Metadata.Attempt = n }
}

// withThings adds a mount and a device.
func withThings(c *runtime.ContainerConfig) {
	c.Mounts = []*runtime.Mount{{ContainerPath: "/host", HostPath: "/"}}
	c.Devices = []*runtime.Device{{ContainerPath: "/dev/data", HostPath: "/dev/zero", Permissions: "rw"}}
}

// A webhook does not know mounts and devices, so that its announcement omits them.
func TestR3_FieldsThatAWebhookCannotKnowAreLetThrough(t *testing.T) {
	t.Parallel()
	e := enforce(t, "annotation")
	_, err := e.create(WithinAMinute(t), "main", "500m", withThings)
	require.NoError(t, err)
	joinAfterKill(t, e.n)
	_, err = e.create(WithinAMinute(t), "main", "500m", func(c *runtime.ContainerConfig) {
		withThings(c)
		attempt(1)(c)
	})
	require.NoError(t, err, "after a restart")
	e.requireStillCompared(t)

	e = enforce(t, "field")
	_, err = e.create(WithinAMinute(t), "main", "500m", withThings)
	Promise(t, "R3", "in the field, an announcement without mounts and devices means that the container has none", OnStock(nothingCompared), func(t require.TestingT) {
		requireRejectedFor(t, err, `mounts[/host]: announced none, got host_path "/"; devices[/dev/data]: announced none, got`)
	})
}

// Ephemeral containers are never announced.
func TestR3_EphemeralContainerIsLetThrough(t *testing.T) {
	t.Parallel()
	for _, how := range ways {
		t.Run(how, func(t *testing.T) {
			e := enforce(t, how)
			_, err := e.create(WithinAMinute(t), "debug", "4", withThings)
			require.NoError(t, err)
			e.requireStillCompared(t)
		})
	}
}

// A container that was updated is compared with the update when it is created again.
func TestR3_UpdatedContainerCanBeCreatedAgain(t *testing.T) {
	t.Parallel()
	e := enforce(t, "field")
	ctx, c := WithinAMinute(t), e.n.CRI()
	first, err := e.create(ctx, "main", "500m", nil)
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, first))
	require.NoError(t, e.n.Settled(ctx, first))
	require.NoError(t, update(ctx, e.n, first, Requests("2", "128Mi")))
	require.NoError(t, c.Stop(ctx, first, 0))
	_, err = e.create(ctx, "main", "2", attempt(1))
	require.NoError(t, err)
	require.NoError(t, e.n.Kill(ctx))
	require.NoError(t, e.n.Boot(ctx))
	_, err = e.create(ctx, "main", "2", attempt(2))
	require.NoError(t, err, "after a restart")
	_, err = e.create(ctx, "main", "500m", attempt(3))
	Promise(t, "R3", "a container that differs from its update is rejected", OnStock(nothingCompared), func(t require.TestingT) {
		requireRejectedFor(t, err, "requests[cpu]: announced 2, got 500m")
	})
}

// A restartable init container is announced like any init container.
func TestR3_RestartableInitContainerIsLetThrough(t *testing.T) {
	t.Parallel()
	e := enforce(t, "field")
	ctx, c := WithinAMinute(t), e.n.CRI()
	for i, name := range []string{"setup", "main", "setup"} { // it restarts beside the main one
		id, err := e.create(ctx, name, map[string]string{"setup": "2", "main": "500m"}[name], func(c *runtime.ContainerConfig) {
			c.Metadata.Attempt = uint32(i)
			if name == "setup" {
				assert.NoError(t, podresources.SetContainer(c, Requests("2", "64Mi")))
			}
		})
		require.NoError(t, err)
		require.NoError(t, c.Start(ctx, id))
	}
	e.requireStillCompared(t)
}

// Mounts that the kubelet adds by itself are not announced.
func TestR3_MountsOfTheKubeletAreLetThrough(t *testing.T) {
	t.Parallel()
	e := enforce(t, "field")
	pod := filepath.Join(e.n.Folder(), "pods", e.config.GetMetadata().GetUid())
	kubelets := func(c *runtime.ContainerConfig) {
		for path, at := range map[string]string{
			"etc-hosts":                "/etc/hosts",
			"containers/main/0c1d2e3f": "/dev/termination-log",
			"volumes/kubernetes.io~projected/kube-api-access-x/token": "/var/run/secrets/kubernetes.io/serviceaccount",
		} {
			path = filepath.Join(pod, path)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, nil, 0o644))
			c.Mounts = append(c.Mounts, &runtime.Mount{ContainerPath: at, HostPath: path})
		}
	}
	_, err := e.create(WithinAMinute(t), "main", "500m", kubelets)
	require.NoError(t, err)
	_, err = e.create(WithinAMinute(t), "side", "250m", kubelets)
	Promise(t, "R3", "a container with the kubelet's mounts of another is rejected", OnStock(nothingCompared), func(t require.TestingT) {
		assert.ErrorContains(t, err, `"side" of pod default/web `+differsFrom+": mounts[/dev/termination-log]: announced none, got ", "the mount is that of another container")
	})
}
