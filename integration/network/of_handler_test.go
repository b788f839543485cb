// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
)

// handlerNetworksReady is the condition for the networks of runtime handlers.
const handlerNetworksReady = "RuntimeHandlerNetworksReady"

// Each network has a status of its own. NetworkReady is that of the default network.
func TestN1_NetworkOfARuntimeHandlerHasAStatusOfItsOwn(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	a := StartAgent(t, "[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.other]",
		"runtime_type = 'io.containerd.runc.v2'", fmt.Sprintf("cni_conf_dir = %q", other))
	a.RequireNetworkReady(t)
	Promise(t, "N1", "the status shows the network of each handler", OnStock("those of handlers are not shown"), func(t require.TestingT) {
		RequireSoon(t, "the networks", func(ctx context.Context) error {
			info, err := a.Info(ctx)
			if err != nil {
				return err
			}
			var networks map[string]struct {
				Ready          bool
				State, Network string
				Since          time.Time
			}
			if err := json.Unmarshal([]byte(info["network"]), &networks); err != nil {
				return err
			}
			standard, other := networks["default"], networks["other"]
			if !standard.Ready || standard.Network != "blue" || standard.Since.IsZero() || other.Ready || other.State != "NotInitialized" {
				return fmt.Errorf("they are %+v", networks)
			}
			return nil
		})
	})
	Promise(t, "N1", "a condition names the handlers whose networks are not ready, and NetworkReady stays true", OnStock("it has no such condition"), func(t require.TestingT) {
		RequireSoon(t, "the condition of the handlers' networks", func(ctx context.Context) error {
			c, err := Condition(ctx, a.N, handlerNetworksReady)
			if err == nil && (c.GetStatus() || c.GetReason() != "RuntimeHandlerNetworksNotReady" ||
				!strings.Contains(c.GetMessage(), `runtime handler "other": NetworkPluginNotReady: `)) {
				err = fmt.Errorf("it is %v", c)
			}
			return err
		})
		c, err := a.NetworkCondition(WithinAMinute(a.T))
		require.NoError(t, err)
		assert.True(t, c.GetStatus())
	})
	request := &runtime.RunPodSandboxRequest{Config: a.N.CRI().Pod("other"), RuntimeHandler: "other"}
	_, errOther := a.N.CRI().Runtime.RunPodSandbox(WithinAMinute(t), request)
	Promise(t, "N2", "a pod of a handler whose network is not ready is rejected", OnStock("it fails without a code"), func(t require.TestingT) {
		assert.Equal(t, codes.Unavailable, status.Code(errOther), errOther)
	})
	Promise(t, "N2", "the pod is counted for the handler", OnStock("it is not counted"), func(t require.TestingT) {
		counted, err := a.N.Metrics(WithinAMinute(a.T), "containerd_cri_network_rejected_pods_total")
		require.NoError(t, err)
		assert.Equal(t, map[string]float64{`{handler="other"}`: 1}, counted)
	})

	// Pods of the handler start and end with its own network, and also end without it.
	file := filepath.Join(other, "10-other.conflist")
	require.NoError(t, os.WriteFile(file, []byte(a.NetworkConfig("other", "10.93.0.0/24")), 0o644))
	var pods []string
	Promise(t, "N2", "pods of the handler are created once its network is ready", KeptOnStock, func(t require.TestingT) {
		for range 2 {
			RequireSoon(t, "a pod on the handler's network", func(ctx context.Context) error {
				r, err := a.N.CRI().Runtime.RunPodSandbox(ctx, request)
				if err == nil {
					pods = append(pods, r.GetPodSandboxId())
				}
				return err
			})
			request.Config = a.N.CRI().Pod("another")
		}
	})
	require.Len(t, a.AddressesTaken("other"), 2)
	Promise(t, "N1", "the condition is true then", OnStock("it has no such condition"), func(t require.TestingT) {
		c, err := Condition(WithinAMinute(a.T), a.N, handlerNetworksReady)
		require.NoError(t, err)
		assert.True(t, c.GetStatus(), c)
	})
	a.RequirePodEnds(t, pods[0])
	require.NoError(t, os.Remove(file))
	Promise(t, "N3", "a pod of the handler ends without its configuration", OnStock("it cannot be stopped"), func(t require.TestingT) {
		a.RequirePodEnds(t, pods[1])
		a.RequireNoAddressTaken(t, "other", "blue")
	})
}
