// SPDX-License-Identifier: Apache-2.0

package adaptation_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
)

// More pods than one message holds are sent in several messages, and received as one list.
func TestLargeNodeSynchronizes(t *testing.T) {
	const pods = 5000
	nri.SetPluginSyncTimeout(time.Minute) // that much takes a while on a busy machine
	t.Cleanup(func() { nri.SetPluginSyncTimeout(0) })
	s := &Suite{}
	p := &mockPlugin{idx: "00", name: "logger"}
	rt := &mockRuntime{pods: map[string]*api.PodSandbox{}}
	for i := range pods {
		id := fmt.Sprintf("pod%04d", i)
		rt.pods[id] = &api.PodSandbox{
			Id:          id,
			Name:        id,
			Annotations: map[string]string{"large": strings.Repeat("x", 2048)}, // 10 MB in all, and 4 MB in one message
		}
	}
	s.Prepare(t, rt, p)
	s.StartRuntime()
	s.StartPlugins(p)
	require.NoError(t, p.Wait(PluginSynchronized, time.After(time.Minute)))
	require.Len(t, p.pods, pods)
}
