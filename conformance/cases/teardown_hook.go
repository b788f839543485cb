// SPDX-License-Identifier: Apache-2.0

package cases

import (
	"context"
	"errors"
	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// StopPodSandbox comes when the containers have stopped, and the sandbox has not.
var _ = Teardown.has("L10_PodIsThereInItsStopHook", Patient, func(t T) {
	n := t.Runtime()
	ctx, c := WithinAMinute(t), n.CRI()
	p := NewPlugin(t, "10", "looks")
	var containers, sandbox error
	p.On(plugin.StopPodSandbox, func(_ context.Context, call *plugin.Call) error {
		containers, sandbox = noneRuns(ctx, c.Runtime), isThere(p.Calls().Of(call.Pod.GetId()).Only(plugin.RunPodSandbox))
		return nil
	})
	Connect(t, n, p)
	l := NewLife(t, n, "stopped")
	require.NoError(t, c.StopPod(ctx, l.Pod))
	t.Promise("L10", "no container runs when plugins are told of the stop of its pod", KeptOnStock, func(t require.TestingT) { assert.NoError(t, containers) })
	t.Promise("L10", "the process of the sandbox does", OnStock("it is gone"), func(t require.TestingT) { assert.NoError(t, sandbox) })
	require.NoError(t, c.RemovePod(ctx, l.Pod))
	RequireNothingLeft(t, n)
})

// noneRuns says which container runs.
func noneRuns(ctx context.Context, c runtime.RuntimeServiceClient) error {
	all, err := c.ListContainers(ctx, &runtime.ListContainersRequest{})
	for _, one := range all.GetContainers() {
		if one.GetState() == runtime.ContainerState_CONTAINER_RUNNING {
			err = errors.Join(err, fmt.Errorf("container %s runs", one.GetId()))
		}
	}
	return err
}

// isThere says that there is no process of a pod's sandbox, where plugins were told of one.
func isThere(told plugin.Calls) error {
	if len(told) == 0 || told[0].Pod.GetPid() == 0 {
		return nil
	}
	if err := unix.Kill(int(told[0].Pod.GetPid()), 0); err != nil {
		return fmt.Errorf("process %d of the sandbox: %w", told[0].Pod.GetPid(), err)
	}
	return nil
}
