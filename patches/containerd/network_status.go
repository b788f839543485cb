// SPDX-License-Identifier: Apache-2.0

package containerd

import "github.com/hookline-nri/hookline/internal/edit"

// NetworkStatus is readiness by STATUS, and the refusal of pods without it.
var NetworkStatus = edit.Patch{
	Slug:    "network-status",
	Module:  "containerd",
	Subject: "cri: ask CNI STATUS in the background and refuse pods while it fails",
	Body: `Each call of CRI's Status runs the STATUS of the network, under a lock and
without a deadline. A plugin that hangs makes the node NotReady by the kubelet's
timeout, and a reload of the configuration that waits for it stops every ADD
and DEL. A plugin that answers that it takes no pods is sent them all the
same, and each of them is created and taken down again.

Ask in the background, with a deadline, and answer from what is kept. Tell by
the reason and message of NetworkReady whether the network is not configured,
takes no pods, is degraded, wants to be tried later, did not answer or could
not be run, with the plugin's words and since when. Refuse a pod that needs a
network which takes none, after one more question, before anything of it is
created. Show all networks in verbose status, and count answers and refusals.`,
	Refs:   []string{"containerd/containerd#11186", "containernetworking/cni#859"},
	Rules:  []string{"N1", "N2", "N4"},
	Status: edit.Upstream,
	Until:  "CRI's Status does not wait for CNI plugins and pods are refused while STATUS fails",
	Edits: []edit.Edit{
		cniConfig.AddField(`
// NetworkStatusGate is whether pods that need a network are refused while its
// STATUS fails.
NetworkStatusGate bool ` + "`toml:\"status_gate\" json:\"statusGate\"`" + `
// NetworkStatusInterval is the age, as a duration such as "5s", from which on an
// answer of STATUS is asked for again when somebody wants it.
NetworkStatusInterval string ` + "`toml:\"status_interval\" json:\"statusInterval\"`" + `
// NetworkStatusTimeout is how long a network has to answer STATUS, as a duration.
// After it the processes of its plugins are killed.
NetworkStatusTimeout string ` + "`toml:\"status_timeout\" json:\"statusTimeout\"`"),
		unixDefaults.After(edit.Key("UseInternalLoopback"), statusDefaults),
		windowsDefaults.After(edit.Key("UseInternalLoopback"), statusDefaults),
		validateConfig.Before(edit.Stmt(edit.If(`c.DrainExecSyncIOTimeout != ""`)), `if _, _, err := c.NetworkStatusTimes(); err != nil {
	return warnings, err
}
`),
		newService.After(edit.Stmt(edit.Mentions("c.initPlatform()")), `if err := c.watchNetworks(); err != nil {
	return nil, nil, fmt.Errorf("failed to watch networks: %w", err)
}`),
		edit.In(criService, edit.Method("criService", "Close")).Before(edit.Stmt(edit.Call("c.eventMonitor.Stop")), `c.closeNetworks()`),
		status.Before(edit.Stmt(edit.Define("resp")), `judgeNetwork(ctx, netPlugin, networkCondition)
`),
		status.Before(edit.Stmt(edit.Define("defaultStatus")), `networks, err := json.Marshal(c.networkInfos(ctx))
if err != nil {
	return nil, err
}
resp.Info["network"] = string(networks)
`),
		run.Before(edit.Stmt(edit.Mentions("c.sandboxNameIndex.Reserve(name, id)")), `if err := c.admitToNetwork(ctx, config, r.GetRuntimeHandler()); err != nil {
	return nil, err
}
`),
	},
}

const statusDefaults = `NetworkStatusGate:          true,
NetworkStatusInterval:      DefaultNetworkStatusInterval.String(),
NetworkStatusTimeout:       DefaultNetworkStatusTimeout.String(),`
