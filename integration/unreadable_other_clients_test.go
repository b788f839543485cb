// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/containerd/api/types/runc/options"
	containerd "github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"github.com/hookline-nri/hookline/integration/node"
)

// elsewhere is a namespace in which CRI has nothing.
const elsewhere = "others"

// newForeign makes a container as a client does that is not CRI. It may not gain privileges.
func newForeign(ctx context.Context, t *testing.T, n *node.Node, id string, runtime *options.Options) containerd.Container {
	t.Helper()
	root := t.TempDir()
	program, err := os.ReadFile(pause)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "pause"), program, 0o755))
	for _, dir := range []string{"proc", "dev", "sys"} {
		require.NoError(t, os.Mkdir(filepath.Join(root, dir), 0o755))
	}
	c, err := n.Containerd().NewContainer(ctx, id,
		containerd.WithRuntime("io.containerd.runc.v2", runtime),
		containerd.WithNewSpec(oci.WithRootFSPath(root), oci.WithProcessArgs("/pause"), oci.WithNoNewPrivileges,
			oci.WithUserID(1000), oci.WithCgroup(n.PodCgroup()+"/"+id)))
	require.NoError(t, err)
	return c
}

func startForeign(ctx context.Context, c containerd.Container) (task containerd.Task, err error) {
	task, err = c.NewTask(ctx, cio.NullIO)
	if err != nil {
		return nil, err
	}
	return task, task.Start(ctx)
}

func endForeign(ctx context.Context, t *testing.T, n *node.Node, id string) {
	c, err := n.Containerd().LoadContainer(ctx, id)
	if err != nil {
		return
	}
	if task, err := c.Task(ctx, nil); err == nil {
		_, err = task.Delete(ctx, containerd.WithProcessKill)
		assert.NoError(t, err)
	}
	assert.NoError(t, c.Delete(ctx))
}

// overwriteIn is overwrite for a container of another namespace.
func overwriteIn(n *node.Node, namespace string, value []byte, path ...string) (err error) {
	db, err := bbolt.Open(filepath.Join(n.Folder(), "root", "io.containerd.metadata.v1.bolt", "meta.db"), 0o600, &bbolt.Options{Timeout: 10 * time.Second})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.Update(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket([]byte("v1")).Bucket([]byte(namespace)).Bucket([]byte("containers"))
		for _, name := range path[:len(path)-1] {
			if bucket = bucket.Bucket([]byte(name)); bucket == nil {
				return fmt.Errorf("no bucket %q of %q", name, path)
			}
		}
		return bucket.Put([]byte(path[len(path)-1]), value)
	})
}

// A container whose runtime's options cannot be read is not started with others.
func TestL22_ContainerOfOthersIsNotStartedWithOtherOptions(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	ctx := namespaces.WithNamespace(withinAMinute(t), elsewhere)
	c := newForeign(ctx, t, n, "options", &options.Options{BinaryName: "/opt/sandboxed/runtime", Root: filepath.Join(n.Folder(), "runc")})
	_, err := startForeign(ctx, c)
	require.ErrorContains(t, err, "/opt/sandboxed/runtime", "it is started by that alone")
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, overwriteIn(n, elsewhere, []byte{0xff}, "options", "runtime", "options"))
	require.NoError(t, n.Boot(ctx))
	promise(t, "L22", "it is not started by another program", keptOnStock, func(t require.TestingT) {
		c, err := n.Containerd().LoadContainer(ctx, "options")
		if err != nil {
			return
		}
		_, err = startForeign(ctx, c)
		assert.Error(t, err)
	})
	endForeign(ctx, t, n, "options")
}

// No process is started in a container whose specification cannot be read with more
// privileges than it says.
func TestL22_ProcessInAContainerOfOthersHasNoMorePrivileges(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	ctx := namespaces.WithNamespace(withinAMinute(t), elsewhere)
	task, err := startForeign(ctx, newForeign(ctx, t, n, "spec", &options.Options{Root: filepath.Join(n.Folder(), "runc")}))
	require.NoError(t, err)
	status := func(pid uint32) string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		require.NoError(t, err)
		var kept []string
		for line := range strings.Lines(string(text)) {
			for _, of := range []string{"Uid:", "NoNewPrivs:", "CapEff:", "CapBnd:"} {
				if strings.HasPrefix(line, of) {
					kept = append(kept, strings.Join(strings.Fields(line)[:2], " "))
				}
			}
		}
		return strings.Join(kept, ", ")
	}
	was := status(task.Pid())
	require.Contains(t, was, "NoNewPrivs: 1")
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, overwriteIn(n, elsewhere, []byte{0xff}, "spec", "spec"))
	require.NoError(t, n.Boot(ctx))
	promise(t, "L22", "a process that is added has none", keptOnStock, func(t require.TestingT) {
		c, err := n.Containerd().LoadContainer(ctx, "spec")
		if err != nil {
			return
		}
		spec, err := c.Spec(ctx)
		require.NoError(t, err)
		task, err := c.Task(ctx, nil)
		require.NoError(t, err)
		p := spec.Process // what docker exec and nerdctl exec -w / begin with
		p.Args, p.Cwd = []string{"/pause"}, "/"
		added, err := task.Exec(ctx, "added", p, cio.NullIO)
		if err != nil {
			return
		}
		defer added.Delete(ctx, containerd.WithProcessKill)
		if err := added.Start(ctx); err != nil {
			return
		}
		assert.Equal(t, was, status(added.Pid()))
	})
	endForeign(ctx, t, n, "spec")
}

// A container that another client has made in CRI's namespace, with a label of CRI and none of
// its metadata, is none of CRI's: a kubelet would stop and remove it.
func TestL22_ContainerOfOthersIsNotTakenForOneOfCRI(t *testing.T) {
	t.Parallel()
	n := startNode(t)
	ctx := namespaces.WithNamespace(withinAMinute(t), "k8s.io")
	kinds := []string{"container", "sandbox"}
	for _, kind := range kinds {
		c := newForeign(ctx, t, n, kind, &options.Options{Root: filepath.Join(n.Folder(), "runc")})
		_, err := c.SetLabels(ctx, map[string]string{"io.cri-containerd.kind": kind})
		require.NoError(t, err)
		_, err = startForeign(ctx, c)
		require.NoError(t, err)
	}
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	promise(t, "L22", "it is in no list of CRI", keptOnStock, func(t require.TestingT) {
		left, err := n.CRI().Left(ctx)
		require.NoError(t, err)
		assert.Empty(t, left)
	})
	for _, kind := range kinds {
		endForeign(ctx, t, n, kind)
	}
}
