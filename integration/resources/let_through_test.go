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

// enforced is a pod of a node that rejects containers that differ.
type enforced struct {
	n      *node.Node
	id     string
	config *runtime.PodSandboxConfig
}

// enforce runs a pod of which the three containers were announced.
func enforce(t *testing.T, how string) enforced {
	t.Helper()
	n := StartNode(t, withSetting("pod_resources_check = \"enforce\"\n"+readsAnnotation))
	config := Announced(t, n, how, ThreeContainers())
	id, err := n.CRI().RunPod(WithinAMinute(t), config)
	require.NoError(t, err)
	return enforced{n, id, config}
}

// create creates a container that says what CPU it asks for, and what else is
// changed.
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

// requireStillCompared checks that the same pod has a container rejected that does differ.
func (e enforced) requireStillCompared(t *testing.T) {
	t.Helper()
	ctx := WithinAMinute(t)
	Promise(t, "R3", "a container of the same pod that does differ is rejected", OnStock(nothingCompared), func(t require.TestingT) {
		_, err := e.create(ctx, "main", "7", attempt(7))
		requireRejectedFor(t, err, "requests[cpu]: announced ")
	})
}

// attempt is for a container that is created once more.
func attempt(n uint32) func(*runtime.ContainerConfig) {
	return func(c *runtime.ContainerConfig) { c.Metadata.Attempt = n }
}

// withThings has a mount and a device.
func withThings(c *runtime.ContainerConfig) {
	c.Mounts = []*runtime.Mount{{ContainerPath: "/host", HostPath: "/"}}
	c.Devices = []*runtime.Device{{ContainerPath: "/dev/data", HostPath: "/dev/zero", Permissions: "rw"}}
}

// A webhook knows of no mounts and no devices, and does not say so either.
func TestR3_WhatAWebhookCannotKnowIsLetThrough(t *testing.T) {
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
	Promise(t, "R3", "a client that knows all of the pod has said that there are no mounts and devices", OnStock(nothingCompared), func(t require.TestingT) {
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

// A container is what it was updated to, when it is created again.
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
	Promise(t, "R3", "a container that is not what it was updated to is rejected", OnStock(nothingCompared), func(t require.TestingT) {
		requireRejectedFor(t, err, "requests[cpu]: announced 2, got 500m")
	})
}

// An init container that restarts was announced as any init container.
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

// What the kubelet mounts by itself nobody announces.
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
		assert.ErrorContains(t, err, `"side" of pod default/web `+differsFrom+": mounts[/dev/termination-log]: announced none, got ", "it is that of another container")
	})
}
