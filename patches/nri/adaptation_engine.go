// SPDX-License-Identifier: Apache-2.0

package nri

import "github.com/hookline-nri/hookline/internal/edit"

// AdaptationEngine puts the engine under the adaptation.
var AdaptationEngine = edit.Patch{
	Slug:    "adaptation-engine",
	Module:  "nri",
	Subject: "adaptation: deliver events through the lifecycle engine",
	Body: `A slow or hanging plugin delays all pods of the node, whatever they have to
do with it: every request holds the lock of the adaptation while it asks the
plugins. Teardown waits for hanging plugins one after the other. Plugins
register one at a time, and a registration waits for every pod operation
that is under way, a container in an hour's graceful stop included, while
every new operation waits for the registration.

Relay all requests through the lifecycle engine. The lock is left with the
list of plugins. Plugins register side by side; each is listed to what there
is and told of it while its later events wait for it alone, for which it has
a timeout of its own (SetPluginSyncTimeout, by default the registration
timeout). A stop or a removal goes to all plugins that know the object, at
the same time, and waits for them once (SetPluginTeardownWait, by default
the request timeout). A plugin that falls behind without end is dropped
(WithBacklogLimit).

The failure policy means what it did, but a plugin that fails the end of
something no longer fails the request. Errors of a request whose caller gave
up never count against a plugin. Plugins that were asked for a pod that was
refused are in the ledger, so what kept them until now goes.

Three things that tests pin change. Nobody is told of the end of what was
never begun, so the test of plugins that disconnect while idle begins it. A
container that was refused is known to those that were asked, so the test of
required plugins undoes it before it tries again, as a runtime does. And the
error of a request whose caller gave up says which plugin it was waiting for,
which is what an operator wants to know; it still counts against nobody.`,
	Refs: []string{"containerd/nri#45", "containerd/nri#63", "containerd/nri#90", "containerd/nri#165", "containerd/nri#286",
		"containerd/nri#287", "containerd/nri#304", "containerd/containerd#14083"},
	Rules:  []string{"L1", "L2", "L3", "L4", "L8", "L9", "L10", "L11", "L13", "L14", "L16", "L17"},
	Status: edit.Upstream,
	Until:  "NRI's adaptation holds no lock while it asks a plugin, and no registration waits for a pod operation",
	Edits: edits(
		dropMethods(
			"RunPodSandbox", "UpdatePodSandbox", "PostUpdatePodSandbox", "StopPodSandbox", "RemovePodSandbox",
			"CreateContainer", "PostCreateContainer", "StartContainer", "PostStartContainer",
			"UpdateContainer", "PostUpdateContainer", "StopContainer", "RemoveContainer",
			"validateContainerAdjustment",
			"startPlugins", "stopPlugins", "acceptPluginConnections",
			"removeClosedPlugins", "sortPlugins", "hasValidators",
			"requestPluginSync", "finishedPluginSync",
		),
		[]edit.Edit{
			edit.DropFile("pkg/adaptation/teardown.go"),
			edit.DropFile("pkg/adaptation/refusals.go"),
			edit.DropImport(adaptation, "sort"),
			edit.DropImport(adaptation, "google.golang.org/protobuf/proto"),
			edit.AddImport(adaptation, "github.com/containerd/nri/internal/lifecycle"),

			edit.In(adaptation, edit.Type("Adaptation")).Delete(edit.Field("validators")),
			edit.In(adaptation, edit.Type("Adaptation")).Replace(edit.Field("refused"), `engine      *lifecycle.Engine
removed     removals
backlog     int
omitNew     bool
life        sync.Mutex // held by Start and Stop, and never while a plugin is asked; guards stopped
stopped     bool`),
			edit.In(adaptation, edit.Func("New")).Before(edit.Stmt(edit.Return("r", "nil")), `r.engine = r.newEngine()
`),
		},
		[]edit.Edit{
			edit.In(adaptation, edit.Method("Adaptation", "Start")).Replace(edit.Stmt(edit.Call("r.Lock")).And(1), `r.life.Lock()
defer r.life.Unlock()

if r.stopped {
	return errors.New("runtime interface was stopped")
}`),
			edit.In(adaptation, edit.Method("Adaptation", "Stop")).Replace(edit.Stmt(edit.Call("r.Lock")).And(1), `r.life.Lock()
defer r.life.Unlock()
r.stopped = true`),
			// The connection of a plugin without one closes for several reasons at a time now.
			edit.In(pluginFile, edit.Method("plugin", "close")).Delete(edit.Stmt(edit.If("p.impl.isWasm() || p.impl.isBuiltin()"))),
			edit.In(pluginFile, edit.Method("plugin", "close")).After(edit.Stmt(edit.Assign("p.closed")), `if p.impl.isWasm() || p.impl.isBuiltin() {
	return
}`),
		},
		rawErrors(
			"runPodSandbox", "updatePodSandbox", "postUpdatePodSandbox", "stopPodSandbox", "removePodSandbox",
			"createContainer", "postCreateContainer", "startContainer", "postStartContainer",
			"updateContainer", "postUpdateContainer", "stopContainer", "removeContainer",
		),
		[]edit.Edit{
			edit.In(pluginFile, edit.Method("plugin", "synchronize")).
				Replace(edit.Expr("getPluginRequestTimeout()"), `getPluginSyncTimeout()`),
			// The engine closes a plugin that fails to join. Closed here, that would be all the log says of why.
			edit.In(pluginFile, edit.Method("plugin", "synchronize")).Delete(edit.Stmt(edit.Call("p.close")).Times(2)),
			edit.In(policyTest, edit.Func("TestPluginFailurePolicy")).Delete(edit.Stmt(edit.Call("require.NotContains"))),
			edit.In(policyTest, edit.Func("TestPluginFailureScenarios")).Delete(edit.Stmt(edit.Call("require.NotContains"))),
			edit.In("pkg/adaptation/adaptation_suite_test.go", edit.Func("TestPluginContainerCreationAdjustments")).
				Before(edit.Stmt(edit.Mentions(`&mockPlugin{idx: "20", name: "xyzzy"}`)), `undo(t, runtime.runtime, pod, ctrReq.Container)`),
			edit.In(policyTest, edit.Func("TestPluginFailurePolicy")).
				Before(edit.Stmt(edit.Define("before")), `begin(t, rt, tc.event, pod0, ctr0)
begin(t, rt, tc.event, pod1, ctr1)
`),
		},
	),
}

const policyTest = "pkg/adaptation/failure_policy_test.go"

// dropMethods drops methods of the adaptation that new files have.
func dropMethods(names ...string) []edit.Edit {
	var drops []edit.Edit
	for _, name := range names {
		drops = append(drops, edit.In(adaptation, edit.Method("Adaptation", name)).Drop())
	}
	return drops
}

// rawErrors leaves it to the engine to judge what a plugin answered, with the
// policy that handleRequestError applies.
func rawErrors(relays ...string) []edit.Edit {
	var raw []edit.Edit
	for _, relay := range relays {
		raw = append(raw, edit.In(pluginFile, edit.Method("plugin", relay)).
			Replace(edit.Expr("p.handleRequestError(ctx, event, err)"), `err`))
	}
	return raw
}
