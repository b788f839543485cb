// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// An installer may overwrite a CNI plugin on a node, and Linux does not run a file that is open for
// writing. A script replaces the plugin, since all tests use the plugin itself.
func TestN3_StopWaitsForAPluginThatIsBeingWritten(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	const ptp = "cni/bin/ptp"
	StandIn(t, a.N, ptp, "#!/bin/sh\nexec '@PROGRAM@' \"$@\"\n")
	pod := a.RunPod("web")
	plugin, err := os.OpenFile(filepath.Join(a.N.Folder(), ptp), os.O_WRONLY, 0)
	require.NoError(t, err)
	stopped := make(chan error, 1)
	ctx := WithinAMinute(t)
	go func() { stopped <- a.N.CRI().StopPod(ctx, pod) }()
	RequireSoon(a, "the DEL of the previous plugin", func(context.Context) error {
		if a.TimesAsked("DEL", "web") == 0 {
			return errors.New("not asked")
		}
		return nil
	})
	if RunsOnStock { // stock does not wait
		err = <-stopped
		require.NoError(t, plugin.Close())
	} else {
		<-time.After(500 * time.Millisecond) // while it is being written
		require.NoError(t, plugin.Close())
		err = <-stopped
	}
	Promise(t, "N3", "a stop waits for a plugin that is being written", OnStock("it fails, as libcni starts one command twice, which Go 1.26 rejects"), func(t require.TestingT) {
		require.NoError(t, err)
	})
	a.RequirePodEnds(t, pod)
	a.RequireNothingLeft(t)
}
