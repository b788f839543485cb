// SPDX-License-Identifier: Apache-2.0

package networkstatus

import (
	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/containerd"
)

// NetworkStatus derives NetworkReady from STATUS, and rejects pods while it fails.
var NetworkStatus = edit.Patch{
	Slug:    "network-status",
	Module:  "containerd",
	Subject: "cri: run CNI STATUS in the background, reject pods while it fails",
	Body: `A CNI plugin that hangs in STATUS makes the node NotReady, because each
call of CRI's Status runs STATUS under a lock and without a deadline. A
reload of the configuration that waits for the plugin then blocks every
ADD and DEL. A plugin that answers that it takes no pods still receives
their ADD, and each pod is created and torn down again.

Run STATUS in the background, with a deadline, and answer Status from
the last result. The reason and message of NetworkReady say whether the
network is not configured, takes no pods, is degraded, must be tried
later, did not answer or could not be run. They have the plugin's
message and since when. Run STATUS once more before rejecting a pod, and
reject the pod before anything of it is created. Wait for the first
answer only after a start, so that a restart makes no network NotReady
because its STATUS takes a while. Show all networks in verbose status,
and the networks of runtime handlers in a condition of their own, on
which the kubelet does not act. Count answers and rejections, and log
each transition once.

The kubelet received the current answer, after as long as STATUS took.
Now it receives the last answer, and false if STATUS takes longer than
status_timeout. The kubelet itself starts no pod while the network is
not ready. crictl and other clients could; they are rejected now, unless
status_gate is false. Networks below CNI 1.1 have no STATUS, and see no
change.`,
	Refs:   []string{"containerd/containerd#11186", "containernetworking/cni#859"},
	Rules:  []string{"N1", "N2", "N4"},
	Status: edit.Upstream,
	Until:  "CRI's Status does not wait for CNI plugins and pods are rejected while STATUS fails",
	Needs:  []string{"containerd/network-packages"},
	Edits: []edit.Edit{
		containerd.CNIConfig.AddField(`
// NetworkStatusGate is whether pods that need a network are rejected while its
// STATUS fails.
NetworkStatusGate bool ` + "`toml:\"status_gate\" json:\"statusGate\"`" + `
// NetworkStatusInterval is how old the last answer of STATUS may be, as a duration
// such as "5s". If a caller needs it and it is older, STATUS is run again.
NetworkStatusInterval string ` + "`toml:\"status_interval\" json:\"statusInterval\"`" + `
// NetworkStatusTimeout is how long a network has to answer STATUS, as a duration.
// After that, the processes of its plugins are killed.
NetworkStatusTimeout string ` + "`toml:\"status_timeout\" json:\"statusTimeout\"`"),
		containerd.UnixDefaults.After(edit.Key("UseInternalLoopback"), statusDefaults),
		containerd.WindowsDefaults.After(edit.Key("UseInternalLoopback"), statusDefaults),
		containerd.ValidateConfig.Before(edit.Stmt(edit.If(`c.DrainExecSyncIOTimeout != ""`)), `if _, _, err := c.NetworkStatusTimes(); err != nil {
	return warnings, err
}
`),
		containerd.NewService.After(edit.Stmt(edit.Mentions("c.initPlatform()")), `if err := c.watchNetworks(); err != nil {
	return nil, nil, fmt.Errorf("failed to watch networks: %w", err)
}`),
		edit.In(containerd.CRIService, edit.Method("criService", "Close")).Before(edit.Stmt(edit.Call("c.eventMonitor.Stop")), `c.closeNetworks()`),
		containerd.CNIDefaults.After(`      status_gate = true
      status_interval = '5s'
      status_timeout = '30s'`),
		containerd.Status.Before(edit.Stmt(edit.Define("resp")), `setNetworkCondition(ctx, netPlugin, networkCondition)
`),
		containerd.Status.After(edit.Stmt(edit.Define("resp")), `resp.Status.Conditions = append(resp.Status.Conditions, c.handlerNetworkConditions()...)`),
		containerd.Status.Before(edit.Stmt(edit.Define("defaultStatus")), `networks, err := json.Marshal(c.networkInfos(ctx))
if err != nil {
	return nil, err
}
resp.Info["network"] = string(networks)
`),
		containerd.Run.Before(edit.Stmt(edit.Mentions("c.sandboxNameIndex.Reserve(name, id)")), `if err := c.admitToNetwork(ctx, config, r.GetRuntimeHandler()); err != nil {
	return nil, err
}
`),
	},
}

const statusDefaults = `NetworkStatusGate:          true,
NetworkStatusInterval:      DefaultNetworkStatusInterval.String(),
NetworkStatusTimeout:       DefaultNetworkStatusTimeout.String(),`
