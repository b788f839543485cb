// SPDX-License-Identifier: Apache-2.0

package nriengine

import (
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
	"github.com/hookline-nri/hookline/patches/places/nri"
)

// AdaptationEngine puts the engine under the adaptation.
var AdaptationEngine = edit.Patch{
	Slug:    "adaptation-engine",
	Module:  "nri",
	Subject: "adaptation: deliver events through the lifecycle engine",
	Body: `A slow or hanging plugin delays all pods of the node, even those whose events it
does not receive: every request holds the lock of the adaptation while it calls
plugins. Teardown waits for hanging plugins one after the other. Plugins
register one at a time. A registration waits for every pod operation under way,
even for a container in an hour's graceful stop, and every new operation waits
for the registration.

Relay all requests through the lifecycle engine. The lock now guards only the
list of plugins. Plugins register side by side. Each receives the list of pods
and containers, and only its own later events wait meanwhile. It has a timeout
of its own for that (SetPluginSyncTimeout, by default the request timeout). A
stop or a removal goes to all plugins that know the object at the same time, and
waits for them once (SetPluginTeardownWait, by default the request timeout). A
plugin with too many waiting events is dropped (WithBacklogLimit). If the caller
of a request has less time than its plugins together, the metadata of the
request has the plugin's share of it, in milliseconds (nri-time-share). No
plugin is cut at its share.

A plugin receives no other request until it has answered the current one,
whatever became of the caller. One function decides what a timeout means, for
the request that timed out and for all requests behind it. A plugin that stays
connected is overdue until it answers, and no request waits for it. The runtime
lists pods and containers for joining plugins without waiting for any of them,
so it may hold a lock of its own. The runtime's own plugins are started again if
they fail to join. Updates that a plugin asks for are applied in the order in
which it asked for them.

An error of a plugin at the end of a pod or container no longer fails the
request. The ledger has the pods that a plugin knows, so the code that kept them
until now is dropped.

Tests pin some behaviour that changes:

  - No plugin receives the end of a pod or container that never began.
    The test of plugins that disconnect while idle begins it first.
  - A container that was rejected is known to the plugins that were
    asked for it. The test of required plugins removes it before it
    tries again, as a runtime does.
  - The error of a request that its caller canceled names the plugin
    that the request was waiting for. An operator needs that.
  - A plugin that is overdue and stays connected fails the next request
    at once, not after one more timeout.
  - A stop does not wait for a plugin that answers Synchronize at that
    very moment. The plugin still receives the stop.`,
	Refs: []string{"containerd/nri#45", "containerd/nri#63", "containerd/nri#90", "containerd/nri#165", "containerd/nri#286",
		"containerd/nri#287", "containerd/nri#304", "containerd/containerd#14083"},
	Rules:  []string{"L1", "L2", "L3", "L4", "L8", "L9", "L10", "L11", "L13", "L14", "L16", "L17", "L28"},
	Status: edit.Upstream,
	Until:  "NRI's adaptation holds no lock while it calls a plugin, and no registration waits for a pod operation",
	Large:  "every request holds the one lock that goes: with half of the requests on the engine there would be two orders of events",
	Needs:  []string{"nri/rejected-pod-ends", "nri/lifecycle-engine"},
	Edits: slices.Concat(
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
			edit.DropFile("pkg/adaptation/known_pods.go"),
			edit.DropImport(nri.Adaptation, "sort"),
			edit.DropImport(nri.Adaptation, "google.golang.org/protobuf/proto"),
			edit.AddImport(nri.Adaptation, "github.com/containerd/nri/internal/lifecycle"),

			edit.In(nri.Adaptation, edit.Type("Adaptation")).Delete(edit.Field("validators")),
			edit.In("pkg/adaptation/result.go", edit.Type("result")).AddField(`

// agreed are the updates of the plugin that answered last, without those that were ignored.
agreed []*ContainerUpdate`),
			edit.In("pkg/adaptation/result.go", edit.Method("result", "update")).Replace(edit.Stmt(edit.Call("r.updateResources")), `if err := r.updateResources(reply, u, plugin); err == nil {
	r.agreed = append(r.agreed, u)
} else if !u.IgnoreFailure {
	return err
}`),
			edit.In(nri.Adaptation, edit.Type("Adaptation")).AddField(`engine      *lifecycle.Engine
omitNew     bool
ordered     bool

backlog, backlogBytes int
overdueLimit          time.Duration

life    sync.Mutex // held by Start and Stop, and never while a plugin is called; guards stopped
stopped bool
ending  chan struct{} // closed by Stop`),
			edit.AddImport(nri.Adaptation, "time"),
			edit.In(nri.Adaptation, edit.Func("New")).Before(edit.Stmt(edit.Return("r", "nil")), `r.ending = make(chan struct{})
r.engine = r.newEngine()
`),
			edit.In(nri.Adaptation, edit.Method("Adaptation", "Start")).Replace(edit.Stmt(edit.Call("r.Lock")).And(1), `r.life.Lock()
defer r.life.Unlock()

if r.stopped {
	return errors.New("runtime interface was stopped")
}`),
			edit.In(nri.Adaptation, edit.Method("Adaptation", "Start")).Replace(edit.Stmt(edit.Call("r.startListener")), `r.listen()
`),
			// A file that is no plugin does not affect the plugins beside it.
			edit.In(nri.Adaptation, edit.Method("Adaptation", "discoverPlugins")).Replace(
				edit.Stmt(edit.All(edit.If("err != nil"), edit.Has(edit.Call("fmt.Errorf")))).Within(edit.Range("entries")).Times(2), `if err != nil {
	log.Errorf(noCtx, "leaving out pre-installed plugin %s in %s: %v", name, r.pluginPath, err)
	continue
}`),
			edit.In(nri.Adaptation, edit.Method("Adaptation", "Stop")).Replace(edit.Stmt(edit.Call("r.Lock")).And(1), `r.life.Lock()
defer r.life.Unlock()
if r.stopped {
	return
}
r.stopped = true`),
		},
		[]edit.Edit{
			edit.In(nri.PluginFile, edit.Method("plugin", "UpdateContainers")).Drop(),
			edit.In(nri.PluginFile, edit.Type("plugin")).Delete(edit.Field("pods")),
			edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Delete(edit.Stmt(edit.Call("p.pods.learn"))),
			edit.In(nri.PluginFile, edit.Type("plugin")).AddField(`

registered atomic.Bool // whether RegisterPlugin was called
waits      func()      // called when the plugin waits for another one to leave, unless nil
changes    changes     // updates that the plugin asks for
stopped    sync.Once   // its process, if the runtime launched it`),
			edit.AddImport(nri.PluginFile, "sync/atomic"),
			edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Before(edit.Top(), `if p.registered.Swap(true) {
	return nil, errors.New("this connection has registered a plugin")
}
`),
			// A plugin without a connection can now be closed for several reasons at a time.
			edit.In(nri.PluginFile, edit.Method("plugin", "close")).Delete(edit.Stmt(edit.If("p.impl.isWasm() || p.impl.isBuiltin()"))),
			edit.In(nri.PluginFile, edit.Method("plugin", "close")).After(edit.Stmt(edit.Assign("p.closed")), `if p.impl.isWasm() || p.impl.isBuiltin() {
	return
}`),
			// The engine sets the timeout, and closes a plugin that fails to join. If it were
			// closed here, the log would have no other reason.
			edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Delete(edit.Stmt(edit.Define("ctx", "cancel")).And(1)),
			edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Delete(edit.Stmt(edit.Call("p.close")).Times(2)),

			edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Delete(edit.Stmt(edit.Call("require.NotContains"))),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailureScenarios")).Delete(edit.Stmt(edit.Call("require.NotContains"))),
			// An overdue plugin fails requests at once until it has answered.
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Replace(
				edit.Stmt(edit.Mentions("runPod(ctx, pod1)")).Within(edit.Has(edit.Define("b"))).Times(2), "eventually(t, func() error { return runPod(ctx, pod1) })"),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Replace(
				edit.Stmt(edit.Mentions("&api.CreateContainerRequest{Pod: pod0, Container: ctr1}")).And(1).Within(edit.Has(edit.Call("b.Release"))), `eventually(t, func() error {
	_, err := s.runtime.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod0, Container: ctr1})
	return err
})`),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailureScenarios")).Delete(
				edit.Stmt(edit.Call("require.GreaterOrEqual")).Within(edit.Range("[]*api.PodSandbox{pod0, pod1, pod2}"))),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailureScenarios")).Delete(
				edit.Stmt(edit.Define("start")).Within(edit.Range("[]*api.PodSandbox{pod0, pod1, pod2}"))),
			edit.In(suiteTest, edit.Func("TestPodAndContainerRequestsAndEvents")).Replace(
				edit.Stmt(edit.Mentions("plugin.EventQ().Has(match)")), "require.NoError(t, plugin.Wait(match, time.After(startupTimeout)))"),
			edit.In(suiteTest, edit.Func("TestPluginContainerCreationAdjustments")).
				Before(edit.Stmt(edit.Mentions(`&mockPlugin{idx: "20", name: "xyzzy"}`)), `undo(t, runtime.runtime, pod, ctrReq.Container)`),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Delete(edit.Stmt(edit.Range("[]*api.PodSandbox{pod0, pod1}"))),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).
				Before(edit.Stmt(edit.Define("before")), `begin(t, rt, tc.event, pod0, ctr0)
begin(t, rt, tc.event, pod1, ctr1)
`),
		},
		engineComments,
	),
}

// engineComments correct the comments and the documentation that the engine makes wrong.
var engineComments = []edit.Edit{
	edit.In(nri.Adaptation, edit.Type("SyncCB")).Doc(`// SyncCB takes the pods and containers of the runtime, for plugins that join. It
// returns at once and without updates: the updates that plugins ask for in their
// replies go through UpdateFn.`),
	edit.In(nri.Adaptation, edit.Type("UpdateFn")).Doc(`// UpdateFn applies updates of containers that plugins ask for outside of the runtime's
// requests: by themselves, in a reply to Synchronize, and in a reply that comes after
// its request has ended. See also WithOrderedUpdates.`),
	edit.In(nri.Adaptation, edit.Method("Adaptation", "updateContainers")).Doc(
		"// updateContainers applies updates that no request of the runtime returns."),
	edit.InSection("README.md", "Plugin Registration", "handshake sequence is over").After(`
Plugins register side by side, and a registration waits for no pod or container. The
list includes pods that are being created; RunPodSandbox follows for those whose hook
is still to come. While the plugin handles the list, its later events wait for it, for
no longer than the synchronization timeout. After that the plugin is disconnected.
`),
	edit.InSection("README.md", "Runtime Adaptation", "in the correct order").After(`
A runtime may call the adaptation for many pods at the same time, and may hold locks
of its own while it does: the adaptation holds no lock over plugins or pods while it
calls a plugin, and takes the whole list of SyncFn before it sends any of it to a
plugin. Creations and changes go to plugins one after the other, in the order of their
indices, since each plugin may reject or adjust. Stops and removals go to all plugins
at once and cannot be rejected. The runtime waits for them once.
`),
	edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`keep_connected`", "unregisters").Replace(`
  - ` + "`fail_request`" + `: a request that the plugin does not answer fails, with an error
    that names the plugin and the request. The plugins after it do not receive the
    request. If not set, they receive it as usual, and the runtime gets no error.
    Stops and removals go to all plugins either way.
  - ` + "`keep_connected`" + `: the plugin stays registered after a timeout. Until it answers,
    it is overdue: it receives nothing else, and no request waits for it. Then it
    receives the pods and containers that it missed and that still exist. If not
    set, a timeout ends its connection. A connection that breaks ends in any case.`),
	edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`StopContainer`").Replace(`
While a plugin is overdue, new pods and containers fail at once if it has set
` + "`fail_request`" + `, and start without it otherwise. An overdue plugin costs the node one
request timeout, not one for each request.`),
	edit.ProtoComment("pkg/api/api.proto", "FailurePolicy", "keep_connected", keepConnected),
	edit.In("pkg/api/api.pb.go", edit.Type("FailurePolicy")).Comment(edit.Field("KeepConnected"), keepConnected),
	edit.ProtoComment("pkg/api/api.proto", "FailurePolicy", "fail_request", failRequest),
	edit.In("pkg/api/api.pb.go", edit.Type("FailurePolicy")).Comment(edit.Field("FailRequest"), failRequest),

	policyCase("TestPluginFailurePolicy", edit.Range("lifecycleRequests"), `// A plugin that disconnects while it is idle is dropped at once, and receives nothing
// more: with fail_request it would fail a request that it cannot receive. Each kind of
// request is tested as the first one after that.`),
	policyCase("TestPluginFailurePolicy", edit.Call("validator.Stop"), `// The same holds for a plugin that only validates. To have containers wait for
// it, name it in the default validator (scenario E).`),
	policyCase("TestPluginFailureScenarios", edit.All(edit.Call("t.Run"), edit.Has(edit.Define("restarted"))), `// Scenario B, a plugin that hangs for good. NRI does not count its failures.
// Without a policy each request waits for a timeout and drops the plugin, which
// reconnects. With keep_connected only the first request waits. With fail_request
// as well each request fails, those after the first at once.`),
	edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Comment(
		edit.Stmt(edit.Define("closed")).Within(edit.All(edit.Call("t.Run"), edit.Has(edit.Call("s.Prepare")))), "// Look up the plugin while it is registered."),
	edit.In(nri.PolicyTest, edit.Func("TestPluginFailureScenarios")).Comment(
		edit.Stmt(edit.Mentions("context.Canceled")), "// It is the caller's own error."),
}

const (
	failRequest = `// A request that the plugin does not answer fails, with an error that names the
// plugin and the request. The plugins after it do not receive the request. If
// not set, they receive it as usual. All plugins receive the end of a pod or
// container in any case.`
	keepConnected = `// The plugin keeps its connection after a timeout. Until it answers, it is
// overdue: it receives nothing else, and no request waits for it. Then it
// receives the pods and containers that it missed and that still exist. If not
// set, a timeout ends the connection. A connection that breaks ends in any case.`
)

// policyCase replaces the comment of a case in one of upstream's tests. The case has a
// statement of that shape.
func policyCase(test string, has edit.Shape, text string) edit.Edit {
	return edit.In(nri.PolicyTest, edit.Func(test)).Comment(edit.Stmt(edit.All(edit.Call("t.Run"), edit.Has(has))), text)
}

const suiteTest = "pkg/adaptation/adaptation_suite_test.go"

// dropMethods drops methods of the adaptation that new files declare.
func dropMethods(names ...string) []edit.Edit {
	return drop(nri.Adaptation, "Adaptation", names)
}
