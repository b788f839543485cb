// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/proc"
)

// A plugin finds what the containers of a pod share by the process of its sandbox, or by paths.
var _ = Pod.has("L25_NamespacesOfAPodAreNamed", Needs{}, func(t T) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	p := NewPlugin(t, "10", "looks")
	Connect(t, n, p)
	l := NewLife(t, n, "named")
	run := p.Calls().Of(l.Pod).Only(plugin.RunPodSandbox)
	require.Len(t, run, 1)
	t.Promise("L25", "the sandbox of a pod has a process, or each namespace that its containers share has a path", KeptOnStock, func(t require.TestingT) {
		assert.NoError(t, sharedAreNamed(ctx, n, run[0].Pod, l.Container))
	})
	l.End(t)
	RequireNothingLeft(t, n)
})

var _ = Restart.has("L25_NamespacesOfAPodAreNamedAfterARestart", Needs{}.AndRestarts(), func(t T) {
	n, ctx := t.Runtime(), WithinAMinute(t)
	before, after := NewPlugin(t, "10", "before"), NewPlugin(t, "10", "after")
	Connect(t, n, before)
	l := NewLife(t, n, "named")
	require.NoError(t, n.Kill(ctx))
	require.NoError(t, n.Boot(ctx))
	Connect(t, n, after)
	t.Promise("L25", "a pod from before a restart has the same pid and paths", KeptOnStock, func(t require.TestingT) {
		run := before.Calls().Of(l.Pod).Only(plugin.RunPodSandbox)[0].Pod
		for _, pod := range after.Calls().Only(plugin.Synchronize)[0].Pods {
			assert.Equal(t, run.GetPid(), pod.GetPid())
			for _, kind := range sharedKinds {
				assert.Equal(t, NamespaceOf(run, kind.name), NamespaceOf(pod, kind.name), kind.name)
			}
			assert.NoError(t, sharedAreNamed(ctx, n, pod, l.Container))
		}
	})
	l.End(t)
	RequireNothingLeft(t, n)
})

// sharedKinds are the kinds of namespaces that all containers of a pod share, by their names in NRI
// and in /proc.
var sharedKinds = []struct{ name, file string }{{"network", "net"}, {"ipc", "ipc"}, {"uts", "uts"}}

// sharedAreNamed returns an error that names the namespaces of a container that a plugin cannot find
// by the message of its pod.
func sharedAreNamed(ctx context.Context, n Runtime, pod *api.PodSandbox, container string) (errs error) {
	pid, err := n.CRI().PID(ctx, container)
	if err != nil {
		return err
	}
	runtime, err := proc.Status(pid, "PPid:") // its shim or monitor sees the paths that the runtime sees
	if err != nil {
		return err
	}
	for _, kind := range sharedKinds {
		path := fmt.Sprintf("/proc/%d/ns/%s", pod.GetPid(), kind.file)
		if named := NamespaceOf(pod, kind.name); named != "" {
			path = fmt.Sprintf("/proc/%s/root%s", runtime, named)
		} else if pod.GetPid() == 0 {
			errs = errors.Join(errs, fmt.Errorf("the sandbox has neither a process nor a path for its %s namespace", kind.name))
			continue
		}
		named, err := os.Stat(path)
		if err != nil {
			errs = errors.Join(errs, err)
			continue
		}
		joined, err := os.Stat(fmt.Sprintf("/proc/%d/ns/%s", pid, kind.file))
		if err != nil {
			return errors.Join(errs, err)
		}
		if !os.SameFile(named, joined) {
			errs = errors.Join(errs, fmt.Errorf("%s is not the %s namespace of the container", path, kind.name))
		}
	}
	return errs
}
