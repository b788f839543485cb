// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// The network of a pod was replaced, and its plugins never succeed again. The time for which its
// DEL is retried also runs while the runtime is down.
func TestN3_PatienceWithAReplacedNetworkGoesOnOverARestart(t *testing.T) {
	t.Parallel()
	const patience = 2 * time.Second
	a := StartAgent(t, "del_patience = '2s'")
	pod := a.RunPod("web")
	ip := a.AddressesTaken("blue")[0]
	a.LoadNetwork("green", "10.90.0.0/24")
	a.Says("DEL", Fails)
	errFirst := a.N.CRI().StopPod(WithinAMinute(t), pod)
	failed := time.Now()
	Promise(t, "N3", "a pod whose DEL fails is kept, and its stop says why", KeptOnStock, func(t require.TestingT) {
		assert.ErrorContains(t, errFirst, "out of luck")
	})
	require.NoError(t, a.N.Kill(WithinAMinute(t)))
	<-time.After(patience - time.Since(failed))
	require.NoError(t, a.N.Boot(WithinAMinute(t)))
	RequireSoon(a, "the other network to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "green") })

	Promise(t, "N3", "the pod ends with the first stop after the restart", OnStock("it cannot be stopped"), func(t require.TestingT) {
		a.RequirePodEnds(t, pod)
	})
	Promise(t, "N3", "the log says what the pod may have leaked", OnStock("it does not"), func(t require.TestingT) {
		log, err := a.N.Log()
		require.NoError(t, err)
		assert.Contains(t, log, "its addresses ["+ip+"] may have leaked")
		assert.Contains(t, log, "out of luck")
	})
}

// The configuration of a network was changed, and its name was not: it is the same network, and the
// DEL of its pods is retried until it succeeds.
func TestN3_DELOfANetworkThatWasChangedIsRetried(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(a *AgentNode) (mend func()){
		"its plugin fails": func(a *AgentNode) func() {
			a.Says("DEL", Fails)
			return func() { a.Says("DEL", "") }
		},
		"its plugin is missing": func(a *AgentNode) func() {
			bin, _ := a.N.CNI()
			path := filepath.Join(bin, "conformance-agent")
			require.NoError(a, os.Rename(path, path+".gone"))
			return func() { require.NoError(a, os.Rename(path+".gone", path)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := StartAgent(t, "del_patience = '1s'")
			pod := a.RunPod("web")
			require.Len(t, a.AddressesTaken("blue"), 1)
			changed := strings.Replace(a.NetworkConfig("blue", "10.89.0.0/24"), `"name"`, `"comment": "changed", "name"`, 1)
			a.WriteConfig("10-conformance.conflist", changed)
			RequireSoon(a, "the change to be loaded", func(ctx context.Context) error {
				info, err := a.Info(ctx)
				if err == nil && !strings.Contains(info["cniconfig"], "changed") {
					err = errors.New("it is not loaded")
				}
				return err
			})
			mend := breaks(a)
			require.Error(t, a.N.CRI().StopPod(WithinAMinute(t), pod))
			<-time.After(time.Second) // longer than del_patience
			again := a.N.CRI().StopPod(WithinAMinute(t), pod)
			Promise(t, "N3", "a second stop fails, too", KeptOnStock, func(t require.TestingT) {
				assert.Error(t, again)
			})
			Promise(t, "N3", "the pod keeps its address", KeptOnStock, func(t require.TestingT) {
				assert.Len(t, a.AddressesTaken("blue"), 1)
			})
			mend()
			a.RequirePodEnds(t, pod)
			Promise(t, "N3", "everything is freed once its plugins work again", KeptOnStock, func(t require.TestingT) { a.RequireNothingLeft(t) })
		})
	}
}

// A plugin is missing while another network is loaded: its DEL is retried.
func TestN3_DELWhosePluginIsMissingIsRetried(t *testing.T) {
	t.Parallel()
	a := StartAgent(t)
	pod := a.RunPod("web")
	bin, _ := a.N.CNI()
	path := filepath.Join(bin, "conformance-agent")
	a.WriteConfig("10-conformance.conflist", fmt.Sprintf(`{"cniVersion": "1.1.0", "name": "green", "plugins": [
		{"type": "ptp", "ipam": {"type": "host-local", "ranges": [[{"subnet": "10.90.0.0/24"}]], "dataDir": %q}}]}`, filepath.Join(a.N.Folder(), "cni", "addresses")))
	RequireSoon(a, "the other network to be loaded", func(ctx context.Context) error { return a.HasLoaded(ctx, "green") })
	require.NoError(t, os.Rename(path, path+".gone"))
	err := a.N.CRI().StopPod(WithinAMinute(t), pod)
	Promise(t, "N3", "the error of the stop names the missing plugin", OnStock("DEL goes to the other network"), func(t require.TestingT) {
		assert.ErrorContains(t, err, `failed to find plugin "conformance-agent"`)
	})
	require.NoError(t, os.Rename(path+".gone", path))
	a.RequirePodEnds(t, pod)
	Promise(t, "N3", "the pod's address is freed once the plugin is back", OnStock("it leaks"), func(t require.TestingT) {
		a.RequireNoAddressTaken(t, "blue")
	})
}
