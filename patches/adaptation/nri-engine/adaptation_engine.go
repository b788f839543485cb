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
	Body: `A slow or hanging plugin delays all pods of the node, whatever they have to
do with it: every request holds the lock of the adaptation while it asks the
plugins. Teardown waits for hanging plugins one after the other. Plugins
register one at a time, and a registration waits for every pod operation
that is under way, a container in an hour's graceful stop included, while
every new operation waits for the registration.

Relay all requests through the lifecycle engine. The lock is left with the
list of plugins. Plugins register side by side; each is listed to what there
is and told of it while its later events wait for it alone, for which it has
a timeout of its own (SetPluginSyncTimeout, by default the request
timeout). A stop or a removal goes to all plugins that know the object, at
the same time, and waits for them once (SetPluginTeardownWait, by default
the request timeout). A plugin that falls behind without end is dropped
(WithBacklogLimit).

A plugin that has been sent a request is sent nothing else before it answered,
whatever became of the caller. Its timeout is judged in one place, by one
function, for the request that timed out and for all that wait behind it: a
plugin that is kept is overdue until it answers, and nobody waits for it. The runtime lists for plugins that join
without waiting for any of them, so that it may hold a lock of its own, and
its own plugins are tried again where they fail. Updates that plugins ask for
are applied in the order in which each said them.

A plugin that fails the end of something no longer fails the request. The
ledger has the pods that a plugin knows, so what kept them until now goes.

Some things that tests pin change. Nobody is told of the end of what was
never begun, so the test of plugins that disconnect while idle begins it. A
container that was rejected is known to those that were asked, so the test of
required plugins undoes it before it tries again, as a runtime does. And the
error of a request whose caller gave up says which plugin it was waiting for,
which is what an operator wants to know. A plugin that is kept and owes an
answer fails the next request at once rather than after one more timeout. And
a stop does not wait for a plugin that has answered Synchronize in this very
moment, though that plugin is told of it.`,
	Refs: []string{"containerd/nri#45", "containerd/nri#63", "containerd/nri#90", "containerd/nri#165", "containerd/nri#286",
		"containerd/nri#287", "containerd/nri#304", "containerd/containerd#14083"},
	Rules:  []string{"L1", "L2", "L3", "L4", "L8", "L9", "L10", "L11", "L13", "L14", "L16", "L17"},
	Status: edit.Upstream,
	Until:  "NRI's adaptation holds no lock while it asks a plugin, and no registration waits for a pod operation",
	Large:  "one lock goes, which every request holds: with half of the requests on the engine there would be two orders of events",
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

// agreed is what the plugin that answered last asked for, without what others own.
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

life    sync.Mutex // held by Start and Stop, and never while a plugin is asked; guards stopped
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
			// A file that is no plugin is left out alone.
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
waits      func()      // called when it waits for another one to leave, unless nil
changes    changes     // that the plugin asks for`),
			edit.AddImport(nri.PluginFile, "sync/atomic"),
			edit.In(nri.PluginFile, edit.Method("plugin", "RegisterPlugin")).Before(edit.Top(), `if p.registered.Swap(true) {
	return nil, errors.New("this connection has registered a plugin")
}
`),
			// The connection of a plugin without one closes for several reasons at a time now.
			edit.In(nri.PluginFile, edit.Method("plugin", "close")).Delete(edit.Stmt(edit.If("p.impl.isWasm() || p.impl.isBuiltin()"))),
			edit.In(nri.PluginFile, edit.Method("plugin", "close")).After(edit.Stmt(edit.Assign("p.closed")), `if p.impl.isWasm() || p.impl.isBuiltin() {
	return
}`),
			// The time for it is the engine's, which also closes a plugin that fails to join.
			// Closed here, that would be all the log says of why.
			edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Delete(edit.Stmt(edit.Define("ctx", "cancel")).And(1)),
			edit.In(nri.PluginFile, edit.Method("plugin", "synchronize")).Delete(edit.Stmt(edit.Call("p.close")).Times(2)),

			edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Delete(edit.Stmt(edit.Call("require.NotContains"))),
			edit.In(nri.PolicyTest, edit.Func("TestPluginFailureScenarios")).Delete(edit.Stmt(edit.Call("require.NotContains"))),
			// Who is overdue is asked again once that is there, and fails requests at once until then.
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

// engineComments say what is so with the engine, in the places that say otherwise.
var engineComments = []edit.Edit{
	edit.In(nri.Adaptation, edit.Type("SyncCB")).Doc(`// SyncCB takes what pods and containers the runtime has, for plugins that join. It
// returns at once and without updates: what plugins ask for in their replies goes
// through UpdateFn.`),
	edit.In(nri.Adaptation, edit.Type("UpdateFn")).Doc(`// UpdateFn applies updates of containers that plugins ask for outside of the runtime's
// requests: by themselves, in a reply to Synchronize, and in one that came after the
// request had ended. See also WithOrderedUpdates.`),
	edit.In(nri.Adaptation, edit.Method("Adaptation", "updateContainers")).Doc(
		"// updateContainers applies updates that no request of the runtime returns."),
	edit.InSection("README.md", "Plugin Registration", "handshake sequence is over").After(`
Plugins register side by side, and a registration waits for no pod or container. Pods
that are being created when the list is taken are in it, too; RunPodSandbox follows for
those whose hook is still to come. While the plugin takes the list, its later events
wait for it, for no longer than the synchronization timeout. After that the plugin is
disconnected.
`),
	edit.InSection("README.md", "Runtime Adaptation", "in the correct order").After(`
A runtime may call the adaptation from many pods at the same time, and may hold locks
of its own while it does: plugins are asked without any lock over plugins or pods,
and what SyncFn lists is taken before any plugin is told of it. Beginnings and changes
go to plugins in their order, since each may reject or adjust. Ends go to all of them
at once, cannot be rejected, and are waited for once.
`),
	edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`keep_connected`", "unregisters").Replace(`
  - ` + "`fail_request`" + `: a request that the plugin leaves unanswered fails, with an
    error that says which plugin and which request. Nobody behind it is asked. If
    not set, those behind it are asked as usual, and the runtime hears nothing of
    it. Ends go to all plugins either way.
  - ` + "`keep_connected`" + `: a timeout does not cost the plugin its registration. It owes
    that answer: until it comes, nothing else is sent to it, and nobody waits for
    it. Then it is told of the pods and containers that it missed and that are
    still there. If not set, a timeout ends its connection. A connection that
    breaks is over in any case.`),
	edit.InSection("README.md", nri.FailureSection, "`fail_request`", "`StopContainer`").Replace(`
While a plugin is overdue, new pods and containers fail at once if it has set
` + "`fail_request`" + `, and start without it otherwise. It costs the node one request
timeout, not one for each request.`),
	edit.ProtoComment("pkg/api/api.proto", "FailurePolicy", "keep_connected", keepConnected),
	edit.In("pkg/api/api.pb.go", edit.Type("FailurePolicy")).Comment(edit.Field("KeepConnected"), keepConnected),
	edit.ProtoComment("pkg/api/api.proto", "FailurePolicy", "fail_request", failRequest),
	edit.In("pkg/api/api.pb.go", edit.Type("FailurePolicy")).Comment(edit.Field("FailRequest"), failRequest),

	policyCase("TestPluginFailurePolicy", edit.Range("lifecycleRequests"), `// A plugin that goes while it is idle is dropped then, and asked nothing any more:
// with fail_request it would fail a request that it cannot get. Each kind of
// request is tested as the first one after that.`),
	policyCase("TestPluginFailurePolicy", edit.Call("validator.Stop"), `// The same holds for a plugin that only validates. To have containers wait for
// it, name it in the default validator (scenario E).`),
	policyCase("TestPluginFailureScenarios", edit.All(edit.Call("t.Run"), edit.Has(edit.Define("restarted"))), `// Scenario B, a plugin that hangs for good: nobody counts how often it failed.
// Without a policy each request waits for a timeout and drops the plugin, which
// comes back. With keep_connected only the first one waits. With fail_request too
// each of them fails, those after the first at once.`),
	edit.In(nri.PolicyTest, edit.Func("TestPluginFailurePolicy")).Comment(
		edit.Stmt(edit.Define("closed")).Within(edit.All(edit.Call("t.Run"), edit.Has(edit.Call("s.Prepare")))), "// Look up the plugin while it is registered."),
	edit.In(nri.PolicyTest, edit.Func("TestPluginFailureScenarios")).Comment(
		edit.Stmt(edit.Mentions("context.Canceled")), "// It is the caller's own error."),
}

const (
	failRequest = `// A request that the plugin leaves unanswered fails, with an error that says
// which plugin and which request, and the plugins behind it are not asked. If
// not set, they are asked as usual. The end of a pod or container is told to
// all plugins in any case.`
	keepConnected = `// A timeout does not cost the plugin its connection. It owes that answer: until
// it comes, nothing else is sent to it, and nobody waits for it. Then it is told
// of the pods and containers that it missed and that are still there. If not
// set, a timeout ends the connection. One that breaks is over in any case.`
)

// policyCase replaces the comment of the case that has a statement of that shape, of
// one of upstream's tests.
func policyCase(test string, has edit.Shape, text string) edit.Edit {
	return edit.In(nri.PolicyTest, edit.Func(test)).Comment(edit.Stmt(edit.All(edit.Call("t.Run"), edit.Has(has))), text)
}

const suiteTest = "pkg/adaptation/adaptation_suite_test.go"

// dropMethods drops methods of the adaptation that new files have.
func dropMethods(names ...string) []edit.Edit {
	return drop(nri.Adaptation, "Adaptation", names)
}
