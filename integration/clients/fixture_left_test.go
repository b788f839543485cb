// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/wait"
)

// things are possible leftovers of a client, by kind and name.
type things map[string][]string

func (s things) add(kind, name string) { s[kind] = append(s[kind], name) }

// without returns the things that are not among others.
func (s things) without(others things) things {
	more := things{}
	for kind, names := range s {
		for _, name := range names {
			if !slices.Contains(others[kind], name) {
				more.add(kind, name)
			}
		}
	}
	return more
}

// String has the number of things of each kind.
func (s things) String() string {
	if len(s) == 0 {
		return "nothing"
	}
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		counts = append(counts, fmt.Sprintf("%s %d", kind, len(s[kind])))
	}
	return strings.Join(counts, ", ")
}

// pods is the namespace of CRI.
const pods = "k8s.io"

// leaves returns a function that ends the flow: it observes the things in a namespace of containerd
// that do not exist now.
func (f *flow) leaves(namespace string) (end func(want string, improved ...only)) {
	f.t.Helper()
	before := f.kept(within(f.t, patience), namespace)
	return func(want string, improved ...only) {
		f.t.Helper()
		limit := 20 * time.Second
		if runsOnStock && len(improved) > 0 {
			limit = 5 * time.Second
		}
		left := things{}
		ctx := within(f.t, limit)
		_ = wait.Until(ctx, "the expected leftovers", func(context.Context) error { // the last ones are observed
			if left = f.kept(f.t.Context(), namespace).without(before); left.String() != want {
				return fmt.Errorf("it is %s", left)
			}
			return nil
		})
		if len(left) > 0 {
			f.t.Logf("left: %q", map[string][]string(left))
		}
		f.observe("left", want, left.String(), improved...)
	}
}

// kept lists the things on the node.
func (f *flow) kept(ctx context.Context, namespace string) things {
	f.t.Helper()
	found := things{}
	if namespace == pods {
		left, err := f.n.Leftovers(ctx)
		require.NoError(f.t, err)
		for _, l := range left {
			found.add(l.Kind, l.Name)
		}
		return found
	}
	for kind, list := range map[string]func(context.Context, things) error{
		"metadata": f.metadata, "processes": f.processes, "mounts": f.mounts, "files": f.files(namespace),
	} {
		require.NoError(f.t, list(namespaces.WithNamespace(ctx, namespace), found), "list %s", kind)
	}
	return found
}

func (f *flow) metadata(ctx context.Context, found things) error {
	c := f.n.Containerd()
	containers, err := c.ContainerService().List(ctx)
	if err != nil {
		return err
	}
	for _, one := range containers {
		found.add("container", one.ID)
	}
	leases, err := c.LeasesService().List(ctx)
	if err != nil {
		return err
	}
	for _, one := range leases {
		found.add("lease", one.ID)
	}
	return c.SnapshotService("overlayfs").Walk(ctx, func(_ context.Context, s snapshots.Info) error {
		found.add("snapshot", s.Name)
		return nil
	})
}

// processes lists processes by command, since daemons are restarted.
func (f *flow) processes(_ context.Context, found things) error {
	pids, err := f.n.Processes()
	if err != nil {
		return err
	}
	for _, pid := range pids {
		line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err == nil && len(line) > 0 { // otherwise it is exiting
			found.add("process", strings.ReplaceAll(strings.TrimSuffix(string(line), "\x00"), "\x00", " "))
		}
	}
	groups, err := f.n.PodCgroups()
	for _, group := range groups {
		if filepath.Base(group) != "pods" {
			found.add("cgroup", group)
		}
	}
	return err
}

func (f *flow) mounts(_ context.Context, found things) error {
	return f.n.Within(func() error {
		mounts, err := mountinfo.GetMounts(func(m *mountinfo.Info) (skip, stop bool) {
			return !strings.HasPrefix(m.Mountpoint, f.n.Folder()) && !strings.HasPrefix(m.Mountpoint, runs), false
		})
		for _, m := range mounts {
			found.add("mount", m.Mountpoint)
		}
		return err
	})
}

// files lists the entries of folders that have one for each task.
func (f *flow) files(namespace string) func(context.Context, things) error {
	in := func(elem ...string) string { return filepath.Join(append([]string{f.n.Folder()}, elem...)...) }
	const tasks = "io.containerd.runtime.v2.task"
	folders := map[string][]string{
		"shim socket": {f.n.ShimSockets()},
		"bundle":      {in("root", tasks, namespace), in("state", tasks, namespace)},
		"runc state":  {in("runc", namespace), in("run", "runc", namespace), in("exec", "runtime-runc", namespace)},
		"fifo":        {in("run", "fifo"), in("run", "io.containerd.runtime.v2.task", namespace)},
	}
	return func(_ context.Context, found things) error {
		for kind, all := range folders {
			for _, folder := range all {
				entries, err := os.ReadDir(folder)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
				for _, entry := range entries {
					found.add(kind, filepath.Join(folder, entry.Name()))
				}
			}
		}
		return nil
	}
}
