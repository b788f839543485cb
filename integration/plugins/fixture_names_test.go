// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"context"
	"crypto/md5"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/plugin"
)

// anybodyMay is how stock breaks the reservation of a name.
const anybodyMay = "any process registers under any name"

// anyUserMayConnect opens NRI's socket to all users.
const anyUserMayConnect = "[plugins.'io.containerd.nri.v1.nri']\nsocket_mode = '0666'\n"

// cgroupsOf runs a pod with one container in a namespace, in a cgroup like the kubelet's, and
// returns the folders of the container's cgroups: one with cgroup v2, one for each hierarchy with
// v1.
func cgroupsOf(ctx context.Context, t *testing.T, n *node.Node, namespace string) []string {
	t.Helper()
	c, pod := n.CRI(), podOfPlugin(n, namespace, "plugin-in-"+namespace)
	id, err := c.RunPod(ctx, pod)
	require.NoError(t, err)
	container, err := c.Create(ctx, id, pod, c.Container("plugin"))
	require.NoError(t, err)
	require.NoError(t, c.Start(ctx, container))
	return cgroupFolders(t, filepath.Join(pod.Linux.CgroupParent, container))
}

// podOfPlugin is the configuration of a pod in a namespace, with a cgroup like the kubelet's.
func podOfPlugin(n *node.Node, namespace, name string) *runtime.PodSandboxConfig {
	pod := PodIn(n, namespace, name, nil)
	pod.Metadata.Uid = fmt.Sprintf("%x", md5.Sum([]byte(namespace+name))) // like the UIDs of static pods
	pod.Linux.CgroupParent = filepath.Join(filepath.Dir(pod.Linux.CgroupParent), "kubepods", "burstable", "pod"+pod.Metadata.Uid)
	return pod
}

// cgroupFolders returns the folders of a cgroup.
func cgroupFolders(t *testing.T, name string) (folders []string) {
	t.Helper()
	for _, hierarchy := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/*"} {
		found, err := filepath.Glob(filepath.Join(hierarchy, name, "cgroup.procs"))
		require.NoError(t, err)
		for _, procs := range found {
			folders = append(folders, filepath.Dir(procs))
		}
	}
	require.NotEmpty(t, folders, name)
	return folders
}

const noPod = "ffffffff-ffff-4fff-bfff-ffffffffffff"

// besidePod makes cgroups of a nonexistent pod beside those of an existing one, with the same name
// for its container. They are removed with the node's.
func besidePod(t *testing.T, cgroups []string) (folders []string) {
	t.Helper()
	for _, cgroup := range cgroups {
		if strings.Contains(cgroup, "/cpuset/") {
			continue // cgroup v1 takes no process before it is set up
		}
		folder := filepath.Join(filepath.Dir(filepath.Dir(cgroup)), "pod"+noPod, filepath.Base(cgroup))
		require.NoError(t, os.MkdirAll(folder, 0o755))
		folders = append(folders, folder)
	}
	require.NotEmpty(t, folders)
	return folders
}

// requireKeptOut checks that a plugin was rejected, with an answer that has all words, and received
// no event.
func requireKeptOut(t require.TestingT, p *plugin.Process, words ...string) {
	RequireSoon(t, "an answer", func(context.Context) error {
		if len(p.KeptOut()) == 0 && len(p.Calls()) == 0 {
			return errors.New("it has none")
		}
		return nil
	})
	require.Empty(t, p.Calls().Events(), "it received events")
	require.NotEmpty(t, p.KeptOut())
	for _, word := range append(words, "PermissionDenied", "is reserved") {
		require.Contains(t, p.KeptOut()[0], word)
	}
}
