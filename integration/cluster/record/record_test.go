// SPDX-License-Identifier: Apache-2.0

package record

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

// A record of two processes is read back, with a line that is being written.
func TestRead(t *testing.T) {
	pod := &api.PodSandbox{Id: "p", Name: "web", Namespace: "n", Uid: "u"}
	run := Begin("a", 1, &plugin.Call{Event: plugin.RunPodSandbox, Connection: 1, Pod: pod})
	list := Begin("b", 1, &plugin.Call{Event: plugin.Synchronize, Connection: 1, Pods: []*api.PodSandbox{pod}})
	var text []byte
	update := Begin("b", 2, &plugin.Call{Event: plugin.UpdateContainer, Connection: 1, Pod: pod,
		Resources: withQuota(20000)})
	for _, l := range []Line{run, list, update, run.Ended(errors.New("no room")), list.Ended(nil)} {
		line, err := json.Marshal(l)
		require.NoError(t, err)
		text = append(append(text, line...), '\n')
	}
	text = append(text, `{"Process":"b","Num`...)

	processes, err := Read(text)
	require.NoError(t, err)
	require.Len(t, processes, 2)
	a, b := processes[0].Calls, processes[1].Calls
	require.Equal(t, []plugin.Event{plugin.RunPodSandbox}, a.Events())
	require.EqualError(t, a[0].Err, "no room")
	require.Equal(t, "u", a[0].Pod.GetUid())
	require.Equal(t, "p", b[0].Pods[0].GetId())
	require.False(t, b[0].End.IsZero())
	require.EqualValues(t, 20000, quotaOf(b[1].Resources))

	_, err = Read([]byte("{\n{}\n"))
	require.Error(t, err, "a complete line")
}
