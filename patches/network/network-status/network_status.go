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
	Body: `Each call of CRI's Status runs the network's STATUS, under a lock and without
a deadline. If a plugin hangs, the kubelet's timeout makes the node NotReady,
and a reload of the configuration that waits for the plugin blocks every ADD and
DEL. A plugin that answers that it takes no pods gets their ADD all the same,
and each pod is created and torn down again.

Run STATUS in the background, with a deadline, and answer Status from the last
result. The reason and message of NetworkReady say whether the network is not
configured, takes no pods, is degraded, wants to be tried later, did not answer
or could not be run, with the plugin's message and since when. Run STATUS once
more before rejecting a pod, and reject it before anything of it is created. Only
after a start is the first answer waited for: a restart makes no network NotReady
because its STATUS takes a while. Show all networks in verbose status, and those of
runtime handlers in a condition of their own, which the kubelet does not act on.
Count answers and rejections, and log each transition once.

The kubelet had the answer of the moment, after as long as STATUS took. It
has the last one now, and false if STATUS takes longer than status_timeout.
The kubelet itself starts no pod while the network is not ready. crictl and
other clients could, and are rejected unless status_gate is false. Networks
below CNI 1.1 have no STATUS, and see no change.`,
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
// NetworkStatusInterval is the age, as a duration such as "5s", from which on
// STATUS is run again when its result is asked for.
NetworkStatusInterval string ` + "`toml:\"status_interval\" json:\"statusInterval\"`" + `
// NetworkStatusTimeout is how long a network has to answer STATUS, as a duration.
// After it the processes of its plugins are killed.
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
