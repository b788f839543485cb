// SPDX-License-Identifier: Apache-2.0

package shims

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// failsToKillAllText replaces runc: the command that kills all processes of a container fails the
// first time.
const failsToKillAllText = `#!/bin/sh
case " $* " in
*" kill --all "*|*" kill -a "*)
	if mkdir '@ONCE@' 2>/dev/null; then
		echo 'cannot freeze' >&2
		exit 1
	fi
	;;
esac
exec '@PROGRAM@' "$@"
`

// A container in the node's PID namespace leaves processes behind when its first process exits.
// They end with the container, also if the shim failed to kill them.
func TestL15_ProcessesOfAContainerInTheNodesPidNamespaceEndWithIt(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"the shim kills them": false, "the shim fails to kill them": true} {
		t.Run(name, func(t *testing.T) {
			n := StartNode(t)
			ctx, c := WithinAMinute(t), n.CRI()
			config := c.Pod("of-the-node")
			config.Linux.SecurityContext.NamespaceOptions.Pid = runtime.NamespaceMode_NODE
			pod, err := c.RunPod(ctx, config)
			require.NoError(t, err)
			of := c.Container("forks")
			of.Linux.SecurityContext.NamespaceOptions.Pid = runtime.NamespaceMode_NODE
			container, err := c.Create(ctx, pod, config, of)
			require.NoError(t, err)
			require.NoError(t, c.Start(ctx, container))
			first := 0
			status, err := c.Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: container, Verbose: true})
			require.NoError(t, err)
			_, after, _ := strings.Cut(status.GetInfo()["info"], `"pid":`)
			_, err = fmt.Sscan(strings.TrimSuffix(strings.SplitN(after, ",", 2)[0], "}"), &first)
			require.NoError(t, err)

			left := exec.Command("sleep", "1000")
			require.NoError(t, left.Start())
			ended := InBackground(left.Wait)
			t.Cleanup(func() { _ = left.Process.Kill() })
			groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", first))
			require.NoError(t, err)
			moved := 0
			for line := range strings.Lines(string(groups)) {
				parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
				for _, root := range []string{filepath.Join("/sys/fs/cgroup", strings.TrimPrefix(parts[1], "name=")), "/sys/fs/cgroup/unified"} {
					if err := os.WriteFile(filepath.Join(root, parts[2], "cgroup.procs"), fmt.Append(nil, left.Process.Pid), 0); err == nil {
						moved++
						break
					}
				}
			}
			require.NotZero(t, moved)
			if fails {
				StandIn(t, n, "bin/runc", failsToKillAllText, "@ONCE@", filepath.Join(n.Folder(), "failed"))
			}
			require.NoError(t, unix.Kill(first, unix.SIGKILL))
			Promise(t, "L15", "processes that the container left end with it", KeptOnStock, func(t require.TestingT) {
				RequireSoon(t, "the end of the process", func(context.Context) error {
					if IsOpen(ended) {
						return errors.New("it runs")
					}
					return nil
				})
			})
			if fails {
				_, err := os.Stat(filepath.Join(n.Folder(), "failed"))
				require.NoError(t, err, "nothing has failed")
			}
			require.NoError(t, c.StopPod(ctx, pod))
			require.NoError(t, c.RemovePod(ctx, pod))
		})
	}
}
