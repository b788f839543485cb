// SPDX-License-Identifier: Apache-2.0

package podstate_test

import (
	"fmt"
	"testing"

	"github.com/containerd/nri/pkg/api"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/podstate"
	field "github.com/hookline-nri/hookline/podstate/internal/nri/podstate"
)

// A plugin reads the state that a runtime sets.
func TestStateTravels(t *testing.T) {
	for set, want := range map[field.State]podstate.State{
		field.Unknown:  podstate.Unknown,
		field.Creating: podstate.Creating,
		field.Ready:    podstate.Ready,
		field.Stopped:  podstate.Stopped,
	} {
		sent := &api.PodSandbox{Id: "pod"}
		field.Set(sent, set)
		fake := &api.PodSandbox{Id: "pod"}
		podstate.Set(fake, want)
		require.True(t, proto.Equal(sent, fake), "a test's runtime sets the state in the same way")
		wire, err := proto.Marshal(sent)
		require.NoError(t, err)
		got := &api.PodSandbox{}
		require.NoError(t, proto.Unmarshal(wire, got))
		require.Equal(t, want, podstate.FromPod(got), want)
	}
	require.Equal(t, podstate.Unknown, podstate.FromPod(nil))
	require.Equal(t, "State(9)", podstate.State(9).String())
}

// How a plugin handles the pods of its Synchronize.
func ExampleFromPod() {
	pod := &api.PodSandbox{Name: "web"} // of a runtime that sends no state
	switch state := podstate.FromPod(pod); state {
	case podstate.Ready, podstate.Unknown:
		fmt.Println("adopt", pod.Name, "which is", state)
	case podstate.Creating:
		fmt.Println("wait for RunPodSandbox")
	case podstate.Stopped:
		fmt.Println("give back what it has")
	}
	// Output: adopt web which is unknown
}
