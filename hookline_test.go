// SPDX-License-Identifier: Apache-2.0

package hookline_test

import (
	"fmt"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline"
	"github.com/hookline-nri/hookline/internal/nri/podstate"
)

// The state that a runtime sets is what a plugin reads on the other side.
func TestStateTravels(t *testing.T) {
	for set, want := range map[podstate.State]hookline.PodState{
		podstate.Unknown:  hookline.Unknown,
		podstate.Creating: hookline.Creating,
		podstate.Ready:    hookline.Ready,
		podstate.Stopped:  hookline.Stopped,
	} {
		sent := &api.PodSandbox{Id: "pod"}
		podstate.Set(sent, set)
		wire, err := proto.Marshal(sent)
		require.NoError(t, err)
		got := &api.PodSandbox{}
		require.NoError(t, proto.Unmarshal(wire, got))
		require.Equal(t, want, hookline.State(got), want)
	}
	require.Equal(t, hookline.Unknown, hookline.State(nil))
	require.Equal(t, "PodState(9)", hookline.PodState(9).String())
}

// What a plugin does with the pods of its Synchronize.
func ExampleState() {
	pod := &api.PodSandbox{Name: "web"} // of a runtime that does not tell
	switch state := hookline.State(pod); state {
	case hookline.Ready, hookline.Unknown:
		fmt.Println("adopt", pod.Name, "which is", state)
	case hookline.Creating:
		fmt.Println("wait for RunPodSandbox")
	case hookline.Stopped:
		fmt.Println("give back what it has")
	}
	// Output: adopt web which is unknown
}
