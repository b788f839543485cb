// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mutation switches off one of the rules by which the engine keeps the
// contract. It is a change of the source that the compiler is shown in place
// of the file, so that the engine itself needs no switches.
type mutation struct {
	off  string // what no longer holds
	file string
	from string // occurs once in file
	to   string
	by   string // the test that finds it; a play of TestContract that is kept, if empty
}

var mutations = []mutation{
	{
		off:  "one request at a time",
		file: "lane.go",
		from: "case !l.held:\n\t\tl.held = true\n\t\treturn l, since, nil",
		to:   "case true:\n\t\tl.held = true\n\t\treturn l, since, nil",
	},
	{
		off:  "a connection is asked in the order of its index",
		file: "engine.go",
		from: "a.index > b.index",
		to:   "a.index < b.index",
	},
	{
		off:  "nothing comes before Synchronize",
		file: "join.go",
		from: "held:   true,",
		to:   "held:   false,",
	},
	{
		off:  "a pod's Stop waits for those of its containers",
		file: "ledger.go",
		from: "case p.running > 0:",
		to:   "case false:",
	},
	{
		off:  "a pod's Remove waits for those of its containers",
		file: "ledger.go",
		from: "case remove && p.containers > 0:",
		to:   "case false:",
	},
	{
		off:  "a Remove that comes alone is preceded by a Stop",
		file: "ledger.go",
		from: "if c.stops() {",
		to:   "if c.stops() && !remove {",
	},
	{
		off:  "who joins meanwhile is asked too",
		file: "creation.go",
		from: "case lanes == nil:",
		to:   "case lanes == nil || asked > 0:",
	},
	{
		off:  "who comes back is not asked again",
		file: "ask.go",
		from: "case q.creation.askedBefore(l) && !q.demanded(l):",
		to:   "case false:",
		by:   "^TestL2_PluginThatReturnsDuringACreationIsToldLate$",
	},
	{
		off:  "two of one name that are there are both asked",
		file: "creation.go",
		from: "i < c.earlier ||",
		to:   "i >= 0 ||",
		by:   "^TestL2_TwoOfOneNameAreBothAsked$",
	},
	{
		off:  "who has two predecessors that were asked is not asked again",
		file: "creation.go",
		from: "predecessors > 1",
		to:   "false",
		by:   "^TestL19_SuccessorsThatHangHoldUpNobodyByTurns$",
	},
	{
		off:  "who is listed for when a creation is sealed is told",
		file: "creation.go",
		from: "c.missed = append(c.missed, l)\n\t\t}\n\t}\n\tc.missed",
		to:   "_ = l\n\t\t}\n\t}\n\tc.missed",
	},
	{
		off:  "containers on their way to the runtime's list are listed",
		file: "list.go",
		from: "for _, ev := range b.creations {",
		to:   "for _, ev := range b.creations[:0] {",
	},
	{
		off:  "what Synchronize told is known",
		file: "away.go",
		from: "l.ledger.seed(s)",
		to:   "l.ledger.seed(Snapshot{})",
	},
	{
		off:  "a pod that was listed as stopped gets no Stop",
		file: "ledger.go",
		from: "m = stopped\n\t\t}\n\t\tg.pods[p.Pod]",
		to:   "m = listed\n\t\t}\n\t\tg.pods[p.Pod]",
	},
	{
		off:  "a pod whose Stop is out is listed as stopped",
		file: "list.go",
		from: "p.Stopped = p.Stopped || at == ended",
		to:   "_ = ended",
	},
	{
		off:  "a pod whose Remove is out is not listed",
		file: "list.go",
		from: "if at == leaving {",
		to:   "if false {",
	},
	{
		off:  "a container whose end is out is not listed",
		file: "list.go",
		from: "if b.ended.stage(o) != alive {",
		to:   "if false {",
	},
	{
		off:  "a plugin that refused a pod hears its end",
		file: "request.go",
		from: "drop := l.fail(r, failure, r.err)",
		to:   "drop := l.fail(r, failure, r.err)\n\tif r.event.Kind == RunPodSandbox {\n\t\tdelete(l.ledger.pods, r.event.Pod)\n\t}",
	},
	{
		off:  "a Stop that failed is not sent again",
		file: "request.go",
		from: "r.part.fail(r.event, err)",
		to:   "r.part.fail(r.event, err)\n\t\tif e, ok := l.ledger.pods[r.event.Pod]; ok && r.event.Kind == StopPodSandbox {\n\t\t\te.mark = told\n\t\t\tl.ledger.pods[r.event.Pod] = e\n\t\t\tr.part.next++\n\t\t}",
	},
	{
		off:  "nothing is sent of what is unknown",
		file: "ledger.go",
		from: "(pod.mark == listed || pod.mark == told), nil",
		to:   "pod.mark != stopped, nil",
	},
	{
		off:  "first events that were not subscribed to are remembered",
		file: "lane.go",
		from: "_, err := l.ledger.admit(ev)\n\t\treturn err",
		to:   "return nil",
	},
	{
		off:  "they are remembered in a busy lane too",
		file: "lane.go",
		from: "if full := l.push(entry{note: ev}); full != nil {",
		to:   "if full := error(nil); full != nil {",
	},
	{
		off:  "only what was subscribed to is sent",
		file: "ask.go",
		from: "case !l.subscribed(q.event.Kind):",
		to:   "case false:",
	},
	{
		off:  "nobody waits for the ends of who did not subscribe",
		file: "part.go",
		from: "if p.late || !l.cares(r) {",
		to:   "if p.late {",
	},
	{
		off:  "nobody waits for the events of who did not subscribe",
		file: "lane.go",
		from: "func (l *lane) note(ev Event, c *creation) error {\n\tl.mu.Lock()",
		to:   "func (l *lane) note(ev Event, c *creation) error {\n\tl, _, err := l.enter(context.Background(), time.Now)\n\tif err != nil {\n\t\treturn errAbsent\n\t}\n\tl.passOn()",
	},
	{
		off:  "the end of a pod ends the creations in it",
		file: "creation.go",
		from: "return c != nil && c.doomed.Load()",
		to:   "return false",
	},
	{
		off:  "the end of a pod is remembered when it is gone",
		file: "list.go",
		from: "p != nil && p.stage != leaving {",
		to:   "p != nil {",
		by:   "^TestL11_NoContainerIsCreatedInAPodThatIsGone$",
	},
	{
		off:  "all are told at once",
		file: "teardown.go",
		from: "if p := l.post(r); p != nil {\n\t\t\tparts = append(parts, p)",
		to:   "if p := l.post(r); p != nil {\n\t\t\tparts = append(parts, p)\n\t\t\te.await(r, parts[len(parts)-1:])",
	},
	{
		off:  "a teardown waits for one bound",
		file: "teardown.go",
		from: "timer := time.NewTimer(wait)",
		to:   "timer := time.NewTimer(9 * wait)",
	},
	{
		off:  "a second stop waits for the first",
		file: "part.go",
		from: "p := l.pending(r)\n\tif p == nil {",
		to:   "p := l.pending(r)\n\tif p != nil {\n\t\treturn nil\n\t}\n\tif p == nil {",
	},
	{
		off:  "a caller who gives up leaves the line",
		file: "lane.go",
		from: "if c.withdraw(false) {",
		to:   "if false {",
	},
	{
		off:  "who waits for a connection that closes is let go",
		file: "lane.go",
		from: "e.caller.err = err\n\t\t\tclose(e.caller.ready)",
		to:   "e.caller.err = err",
	},
	{
		off:  "a Synchronize that hangs is cut",
		file: "join.go",
		from: "context.WithTimeout(ctx, timeout)",
		to:   "context.WithTimeout(ctx, 9*timeout)",
	},
	{
		off:  "a request that hangs is cut",
		file: "request.go",
		from: "r.due = r.sent.Add(l.requestTimeout())",
		to:   "r.due = r.sent.Add(3 * l.requestTimeout())",
	},
	{
		off:  "a caller who gives up is let go",
		file: "ask.go",
		from: "case <-q.ctx.Done():\n\t\tif err",
		to:   "case <-(chan int)(nil):\n\t\tif err",
	},
	{
		off:  "a plugin that its policy drops is dropped",
		file: "policy.go",
		from: "return fail, drop && !p.Permanent",
		to:   "return fail, drop && p.Permanent",
	},
	{
		off:  "the line is bounded",
		file: "lane.go",
		from: "case len(l.line) >= o.BacklogLimit:",
		to:   "case false:",
	},
	{
		off:  "the engine forgets what the runtime no longer lists",
		file: "list.go",
		from: "if p := e.ended[pod]; !there[pod]",
		to:   "if p := e.ended[pod]; false && !there[pod]",
		by:   "^TestEndsThatWereNotTakenBackAreSweptUp$",
	},
	{
		off:  "a request keeps the turn when its caller has left",
		file: "ask.go",
		from: "r.abandoned = true\n\tsent := r.sent",
		to:   "r.abandoned = true\n\tl.current = nil\n\tl.passOn()\n\tsent := r.sent",
	},
	{
		off:  "who owes an answer is asked nothing",
		file: "lane.go",
		from: "case l.overdue():\n\t\terr := l.debt()\n\t\tl.mu.Unlock()\n\t\treturn l, since, err\n\tcase !l.held:",
		to:   "case !l.held || l.overdue():",
	},
	{
		off:  "those in line are let go when it falls behind",
		file: "overdue.go",
		from: "if e.caller != nil {",
		to:   "if e.caller != nil && false {",
		by:   "^TestL16_PolicyHoldsForAllWhoWait$",
	},
	{
		off:  "nobody waits for the ends of who owes an answer",
		file: "part.go",
		from: "p.late = l.overdue() || !l.joined",
		to:   "p.late = !l.joined",
		by:   "^TestL22_HungPluginCostsOneTimeout$",
	},
	{
		off:  "nobody waits for the ends of who is not synchronized",
		file: "part.go",
		from: "p.late = l.overdue() || !l.joined",
		to:   "p.late = l.overdue()",
		by:   "^TestL13_TeardownWaitsForNobodyWhoJoins$",
	},
	{
		off:  "what was missed is told late",
		file: "ask.go",
		from: "if failure == Debt {\n\t\tq.creation.missedBy(l)",
		to:   "if failure == Debt {\n\t\t_ = q.creation",
	},
	{
		off:  "what Synchronize told is not told late",
		file: "ledger.go",
		from: "if pod.mark != unknown && (pod.mark != listed || !pod.creating) {",
		to:   "if pod.mark != unknown && pod.mark != listed {",
		by:   "^TestL13_RuntimeWithALockOfItsOwn$",
	},
	{
		off:  "what began and ended meanwhile is nothing",
		file: "overdue.go",
		from: "return end.object() == e.missed.object() || end.Container == \"\" && end.Pod == e.missed.Pod",
		to:   "return false",
		by:   "^TestL22_HungPluginCostsOneTimeout$",
	},
	{
		off:  "what is undone is not told late",
		file: "overdue.go",
		from: "case l.closed != nil || c.undone():",
		to:   "case l.closed != nil:",
		by:   "^TestL3_WhatEndsMeanwhileIsNotToldLate$",
	},
	{
		off:  "a creation waits one timeout in all for those who join",
		file: "ask.go",
		from: "if q.until.IsZero() {",
		to:   "if true {",
		by:   "^TestL13_CreationWaitsOneTimeoutForAllWhoJoin$",
	},
	{
		off:  "a peer that does not read is cut",
		file: "join.go",
		from: "case <-bound.Done():",
		to:   "case <-(chan int)(nil):",
	},
	{
		off:  "a list is not waited for for ever",
		file: "list.go",
		from: "case <-timer.C:",
		to:   "case <-(chan int)(nil):",
		by:   "^TestL13_AListThatHangsIsCut$",
	},
	{
		off:  "two removals at once are two",
		file: "ended.go",
		from: "if e.removals > 1 {",
		to:   "if false {",
		by:   "^TestL3_TwoRemovalsAtOnce$",
	},
	{
		off:  "who failed to be synchronized is not waited for again",
		file: "lane.go",
		from: "case l.failed && !l.joined:",
		to:   "case false:",
		by:   "^TestL22_FlappingPluginCostsOneTimeout$",
	},
	{
		off:  "only an answer is the word of a required plugin",
		file: "required.go",
		from: "d.met = answered && q.suits(d, l)",
		to:   "d.met = (answered || true) && q.suits(d, l)",
	},
	{
		off:  "who did not subscribe has not answered",
		file: "required.go",
		from: "return d.OrPresent || l.subscribed(q.event.Kind)",
		to:   "return true",
	},
	{
		off:  "nothing is sealed before all required have answered",
		file: "creation.go",
		from: "if !c.met() {",
		to:   "if false {",
		by:   "^TestL20_SealWaitsForTheAnswer$",
	},
	{
		off:  "nobody is told before the required are there",
		file: "creation.go",
		from: "func (q *question) askAll() error {\n\tif err := q.await(); err != nil {",
		to:   "func (q *question) askAll() error {\n\tif err := error(nil); err != nil {",
	},
	{
		off:  "a plugin that is away is waited for",
		file: "await.go",
		from: "if first.left() <= 0 {",
		to:   "if true {",
	},
	{
		off:  "it is waited for no longer than it may be",
		file: "required.go",
		from: "return d.Wait - d.waited",
		to:   "return 2*d.Wait - d.waited",
	},
	{
		off:  "the wait is one for all absences",
		file: "await.go",
		from: "d.waited += time.Since(start)",
		to:   "d.waited = time.Since(start)",
		by:   "^TestL20_WaitIsOneForAllAbsences$",
	},
	{
		off:  "a required plugin that does not answer fails the request, whatever its policy",
		file: "request.go",
		from: "if fail || r.demanded {",
		to:   "if fail {",
		by:   "^TestL20_NoAnswerIsNoWord$",
	},
	{
		off:  "who goes before it was asked is waited for",
		file: "ask.go",
		from: "if demanded && failure == Loss {",
		to:   "if false {",
		by:   "^TestL20_PluginIsLostWhilePodsWait$",
	},
	{
		off:  "nobody is told before the required are there, if one has just left",
		file: "required.go",
		from: "case l.closed != nil || l.lost():",
		to:   "case l.closed != nil:",
		by:   "^TestL20_ClosedConnectionIsAwayBeforeItIsNoticed$",
	},
	{
		off:  "the wait before anything is made counts",
		file: "required.go",
		from: "waited: waited[r.Plugin], told",
		to:   "told",
		by:   "^TestL20_WaitBeforeAnythingIsMade$",
	},
	{
		off:  "a connection that has just closed is not asked",
		file: "ask.go",
		from: "case l.closed != nil || l.lost():",
		to:   "case l.closed != nil:",
		by:   "^TestL20_ClosedConnectionIsNotAsked$",
	},
	{
		off:  "a required plugin that owes an answer fails all before anyone is asked",
		file: "required.go",
		from: "case l.overdue():\n\t\treturn prospect{indebted, l, l.debt()}",
		to:   "case false:",
		by:   "^TestL20_OverduePluginFailsAtOnce$",
	},
	{
		off:  "another connection of the name will do",
		file: "required.go",
		from: "if unanswered && q.nearest(d).rank != able {",
		to:   "if unanswered {",
		by:   "^TestL20_OverduePluginFailsAtOnce$",
	},
	{
		off:  "the end of a pod ends its wait",
		file: "teardown.go",
		from: "c.doomed.Store(true)\n\t\t\te.change()",
		to:   "c.doomed.Store(true)",
		by:   "^TestL20_PodThatWaitsCanBeStopped$",
	},
	{
		off:  "time is kept back for the undo",
		file: "timeouts.go",
		from: "time.Until(deadline)/4",
		to:   "time.Until(deadline)/400",
		by:   "^TestL20_CallerHearsWhichPluginIsAway$",
	},
	{
		off:  "a plugin is told the deadline of its caller",
		file: "timeouts.go",
		from: "ok && at.Before(r.due)",
		to:   "ok && false",
		by:   "^TestL16_PluginIsToldTheDeadlineOfItsCaller$",
	},
	{
		off:  "a plugin has the timeout that is set for it",
		file: "timeouts.go",
		from: "cmp.Or(l.timeouts.Request, l.engine.opts.RequestTimeout())",
		to:   "l.engine.opts.RequestTimeout()",
		by:   "^TestL16_PluginMayHaveATimeoutOfItsOwn$",
	},
	{
		off:  "a plugin has the time to synchronize that is set for it",
		file: "timeouts.go",
		from: "cmp.Or(l.timeouts.Sync, l.engine.opts.SyncTimeout())",
		to:   "l.engine.opts.SyncTimeout()",
		by:   "^TestL13_PluginMayHaveASyncTimeoutOfItsOwn$",
	},
	{
		off:  "ends are owed to who is away",
		file: "part.go",
		from: "l.oweAll(r)\n\t\treturn nil",
		to:   "return nil",
	},
	{
		off:  "what a lane that closes was to tell is owed",
		file: "part.go",
		from: "l.owe(p.round, ev, &p.round.events[p.next])",
		to:   "_ = p.round",
	},
	{
		off:  "an end that was sent and not answered is owed",
		file: "request.go",
		from: "l.owe(r.part.round, r.event, &r.event)",
		to:   "_ = l",
		by:   "^TestL18_StopThatAPluginWentAtIsToldAgain$",
	},
	{
		off:  "an answer pays",
		file: "request.go",
		from: "l.heard(r.event)",
		to:   "_ = r.event",
		by:   "^TestL18_TimeoutKeepsWhatIsOwed$",
	},
	{
		off:  "what the runtime lists still ends by itself",
		file: "away.go",
		from: "toCome := listed && (d.event.Kind != StopPodSandbox || !o.Stopped)",
		to:   "toCome := listed && o.Stopped && false",
	},
	{
		off:  "what a name knew is known when it comes back",
		file: "away.go",
		from: "l.ledger.inherit(knew)",
		to:   "_ = knew",
		by:   "^TestL18_WhatItKnewIsKnownAgain$",
	},
	{
		off:  "what is late is owed before the runtime goes on",
		file: "part.go",
		from: "p.late = true\n\tl.oweRest(p)",
		to:   "p.late = true",
		by:   "^TestL18_StopThatIsOwedIsFollowedByItsRemove$",
	},
	{
		off:  "it is safe before the runtime goes on",
		file: "teardown.go",
		from: "if r.owes.Load() {",
		to:   "if false {",
		by:   "^TestL18_WhatWaitsForAHungPluginOutlivesAKill$",
	},
	{
		off:  "who was connected knows what the runtime finds",
		file: "away.go",
		from: "l.ledger.seed(there)",
		to:   "_ = there",
		by:   "^TestL18_EndsAfterAKillAreTold$",
	},
	{
		off:  "with a pod that had stopped its containers had",
		file: "away.go",
		from: "m = stopped // before its pod",
		to:   "_ = stopped",
		by:   "^TestL18_ContainersOfAStoppedPodHaveStopped$",
	},
	{
		off:  "what a kill cut in its creation is known to who was told of it",
		file: "away.go",
		from: "l.ledger.know(o.Pod, o.Container)",
		to:   "_ = o",
		by:   "^TestL18_EndOfWhatWasCutInItsCreation$",
	},
	{
		off:  "what is gone after a restart has ended",
		file: "away.go",
		from: "e.owePassed(l, there)",
		to:   "_ = there",
		by:   "^TestL18_WhatIsGoneAfterARestartHasEnded$",
	},
	{
		off:  "what is gone after a restart has ended, if its pod is not known either",
		file: "away.go",
		from: " && l.ledger.knows(pod, \"\"): //",
		to:   ": //",
		by:   "^TestL18_StopThatIsOwedIsFollowedByItsRemove$",
	},
	{
		off:  "what is owed has ended for who was connected",
		file: "away.go",
		from: "l.ledger.endAll(debts(e.opts.Owed.Owes(name)))",
		to:   "_ = debts",
		by:   "^TestL18_EndHandedInBeforeAKillIsToldOnce$",
	},
	{
		off:  "what is owed a Stop is known",
		file: "away.go",
		from: "g.know(d.event.Pod, d.event.Container)",
		to:   "_ = d",
		by:   "^TestL18_StopThatIsOwedIsFollowedByItsRemove$",
	},
	{
		off:  "a Stop that is owed is followed by its Remove",
		file: "away.go",
		from: "l.followUp()",
		to:   "_ = l",
		by:   "^TestL18_RemoveThatNobodyKnowsOfFollowsItsStop$",
	},
	{
		off:  "what is owed is told in order",
		file: "away.go",
		from: "if all[i].event.covers(&all[j].event) {",
		to:   "if false {",
		by:   "^TestL18_OrderWithTwoConnectionsAtATime$",
	},
	{
		off:  "who breaks has not answered, late either",
		file: "request.go",
		from: "r.err = also(r.err, ErrClosed) // what",
		to:   "r.err = also(r.err, r.err) // what",
		by:   "^TestL18_StopThatIsLateAndBreaksIsToldAgain$",
	},
	{
		off:  "who comes back waits for the account of who went",
		file: "away.go",
		from: "o != nil && !o.quiet {",
		to:   "o != nil && false {",
		by:   "^TestL18_EndOnItsWayToAConnectionThatCloses$",
	},
	{
		off:  "what that has not accounted for is handed on",
		file: "part.go",
		from: "if l.heir != nil {",
		to:   "if false {",
		by:   "^TestL18_NextConnectionComesAmidAnAccount$",
	},
	{
		off:  "an end that was handed in before a plugin came back is told",
		file: "part.go",
		from: "if heir := l.heir; heir != nil {",
		to:   "if heir := l.heir; false {",
		by:   "^TestL18_EndHandedInBeforeItComesBack$",
	},
	{
		off:  "much that is owed takes turns with pods",
		file: "away.go",
		from: "|| time.Now().Before(l.payUntil) {",
		to:   "|| true {",
		by:   "^TestL18_MuchHoldsUpNoPods$",
	},
	{
		off:  "a second connection succeeds the first",
		file: "handover.go",
		from: "if f := e.serving(l.name); f != nil {",
		to:   "if f := e.serving(l.name); false {",
		by:   "^TestL19_EventsTurnToTheSuccessor$",
	},
	{
		off:  "one that has just closed is succeeded",
		file: "handover.go",
		from: "if f := e.serving(l.name); f != nil {",
		to:   "if f := e.serving(l.name); f != nil && !f.lost() {",
		by:   "^TestL19_ConnectionThatHasJustClosedIsSucceeded$",
	},
	{
		off:  "the first is sent nothing while its successor is synchronized",
		file: "handover.go",
		from: "hold := first.requestTimeout() / 2",
		to:   "hold := time.Duration(0)",
		by:   "^TestL19_WhatComesMeanwhileWaitsForTheSuccessor$",
	},
	{
		off:  "a successor that takes its time holds up nobody",
		file: "handover.go",
		from: "hold := first.requestTimeout() / 2",
		to:   "hold := 9 * first.requestTimeout()",
		by:   "^TestL19_SlowSuccessorIsToldWhatItMissed$",
	},
	{
		off:  "successors that fail cost one timeout",
		file: "handover.go",
		from: "if l.failed {",
		to:   "if false {",
		by:   "^TestL19_SuccessorsThatFailCostOneTimeout$",
	},
	{
		off:  "a successor is synchronized with what the first knows",
		file: "handover_turn.go",
		from: "p.Stopped = !known.stops()",
		to:   "_ = p.Stopped",
	},
	{
		off:  "it is not told of containers whose end the first was told",
		file: "handover_turn.go",
		from: "if knows && !known.stops() || ",
		to:   "if known.stops() && false || ",
	},
	{
		off:  "it is told of what has begun since the list",
		file: "handover_lane.go",
		from: "if l.recording && ev.Kind.first() {",
		to:   "if false {",
		by:   "^TestL19_WhatBeganSinceTheListIsListed$",
	},
	{
		off:  "it knows what the name knew",
		file: "handover_turn.go",
		from: "l.ledger.inherit(first.ledger)",
		to:   "_ = first.ledger",
		by:   "^TestL19_EventsTurnToTheSuccessor$",
	},
	{
		off:  "the line of the first is its own",
		file: "handover_turn.go",
		from: "first.restOfCurrent(l), first.line)",
		to:   "first.restOfCurrent(l), first.line[:0])",
	},
	{
		off:  "it is told what the first has not told of what that is at",
		file: "handover_turn.go",
		from: "return []entry{{part: rest}}",
		to:   "return nil",
		by:   "^TestL19_OverdueFirstIsSucceededAtOnce$",
	},
	{
		off:  "a first that is slow finishes one request and no more",
		file: "handover_lane.go",
		from: "if l.kept == nil || l.closed != nil || l.successor != nil {",
		to:   "if true {",
		by:   "^TestL19_FirstFinishesItsRequest$",
	},
	{
		off:  "what was asked of the first is not asked again",
		file: "handover_turn.go",
		from: "true, first.seq, first",
		to:   "true, l.seq, first",
		by:   "^TestL19_PodUnderWayIsToldOnce$",
	},
	{
		off:  "a successor takes over at once if the first closes",
		file: "handover.go",
		from: "s.ready && !e.closed && e.turn(l, s) {",
		to:   "false && !e.closed && e.turn(l, s) {",
		by:   "^TestL19_FirstIsLostAtTheTurn$",
	},
	{
		off:  "what the first was asked is asked of its successor if it is lost",
		file: "ask.go",
		from: "case q.creation != nil && unheard(err) && l.latest() != l:",
		to:   "case false:",
		by:   "^TestL19_FirstIsLostInARequest$",
	},
	{
		off:  "a slow successor is told what began",
		file: "handover_turn.go",
		from: "line = append(line, entry{missed: &ev, weight: e.opts.Weigh(ev)})",
		to:   "_ = ev",
		by:   "^TestL19_SlowSuccessorIsToldWhatItMissed$",
	},
	{
		off:  "a slow successor is told what ended",
		file: "handover_turn.go",
		from: "if ends := l.endedSince(first); len(ends) > 0 {",
		to:   "if ends := l.endedSince(first); false {",
		by:   "^TestL19_SlowSuccessorIsToldWhatItMissed$",
	},
	{
		off:  "it waits for the creations that the first was asked for",
		file: "handover.go",
		from: "if o.container != \"\" && !c.sealed && first.knowsNow(o) {",
		to:   "if first.knowsNow(o) && false {",
		by:   "^TestL19_CreationUnderWayIsToldOnce$",
	},
	{
		off:  "a creation that takes long is told late",
		file: "handover_turn.go",
		from: "c.heirs = append(c.heirs, l)",
		to:   "_ = c",
		by:   "^TestL19_CreationThatTakesLongIsToldLate$",
	},
	{
		off:  "what is owed moves along",
		file: "handover.go",
		from: "e.takeUp(l, *l.offered, l.ledger)",
		to:   "l.ledger.seed(*l.offered)",
		by:   "^TestL19_WhatIsOwedMovesAlong$",
	},
	{
		off:  "it knows what it is told of once it has answered",
		file: "handover_turn.go",
		from: "l.ledger.inherit(first.ledger)",
		to:   "l.ledger.seed(*l.offered)",
		by:   "^TestL19_SuccessorThatFailsLeavesWhatTheNameKnew$",
	},
	{
		off:  "the newest comes next",
		file: "handover_gate.go",
		from: "if older != nil {\n\t\te.drop(older, errNewer)",
		to:   "if false {\n\t\te.drop(older, errNewer)",
		by:   "^TestL19_NewestWins$",
	},
	{
		off:  "an end that breaks each connection is given up",
		file: "away.go",
		from: "return l.broke >= tellings",
		to:   "return false",
		by:   "^TestL22_EndThatBreaksEachConnectionIsGivenUp$",
	},
	{
		off:  "who was told to go stands back",
		file: "handover_gate.go",
		from: "if f == nil || !slices",
		to:   "if true || !slices",
		by:   "^TestL19_PredecessorThatComesBackStandsBack$",
	},
	{
		off:  "of those that stand back one waits for each origin",
		file: "handover_gate.go",
		from: "older != nil && older != l {",
		to:   "false {",
		by:   "^TestL19_PredecessorThatComesBackStandsBack$",
	},
}

// found is how a test says that a rule is broken: by its id, by those who wait
// forever, or by what is kept forever; a test of one rule by its name.
var found = regexp.MustCompile(`L\d+: .*|deadlock.*|the (engine|ledger) .*keeps.*|FAIL: Test\w+.*`)

// seedsFile keeps, for each mutation that no test of one rule finds, the seed of a play
// of TestContract that does.
const seedsFile = "testdata/seeds.json"

var renewSeeds = flag.Bool("renew-seeds", false, "search for plays that find the mutations which the kept ones do not find")

// TestMutations shows that each rule is missed where it is missing, and leaves nothing to
// chance: it is found by a test of that rule, or by a play of TestContract that is kept.
// The moves of a play are the same each time, the order in which its goroutines run is not:
// it is repeated until it is found. The plays of chance are make search.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the engine once for each mutation")
	}
	seeds := readSeeds(t)
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.off, " ", "_"), func(t *testing.T) {
			t.Parallel() // compiler and linker use one processor most of the time
			mutated := build(t, m)
			seed := seeds.of(m.off)
			if *renewSeeds && m.by == "" && !mutated.always(seed) {
				seed = mutated.search(t)
				seeds.keep(t, m.off, seed)
			}
			find := m.by
			if find == "" {
				find = "^TestContract$"
			}
			out, missed := mutated.run(append(onePlay(seed), "-test.run", find, "-test.count", "50", "-test.failfast")...)
			require.True(t, missed, "the rule is not missed. If the draws of TestContract have changed: "+
				"go test -timeout 60m -run TestMutations ./internal/nri/lifecycle -renew-seeds\n%s", out)
			first := found.FindString(out)
			require.NotEmpty(t, first, "%s", out[:min(len(out), 4000)])
			t.Logf("found: %s", first)
		})
	}
	t.Run("no seed is kept for nothing", func(t *testing.T) {
		for off := range seeds.kept {
			assert.True(t, slices.ContainsFunc(mutations, func(m mutation) bool { return m.off == off && m.by == "" }), off)
		}
	})
}

// A mutant is the test program of this package with a mutation.
type mutant struct{ program string }

// build compiles a mutant.
func build(t *testing.T, m mutation) mutant {
	dir, err := os.Getwd()
	require.NoError(t, err)
	path := filepath.Join(dir, m.file)
	source, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(source), m.from), "occurrences in %s of %q", m.file, m.from)

	mutated := filepath.Join(t.TempDir(), m.file)
	err = os.WriteFile(mutated, []byte(strings.Replace(string(source), m.from, m.to, 1)), 0o600)
	require.NoError(t, err)
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
	require.NoError(t, err)
	overlayFile := filepath.Join(t.TempDir(), "overlay.json")
	require.NoError(t, os.WriteFile(overlayFile, overlay, 0o600))

	program := filepath.Join(t.TempDir(), "lifecycle.test")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w", "-overlay", overlayFile, "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // with -trimpath: as hack is built, so most is compiled
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return mutant{program}
}

// onePlay has TestContract play one play.
func onePlay(seed uint64) []string {
	return []string{"-rapid.checks", "1", "-rapid.seed", strconv.FormatUint(seed, 10)}
}

// run runs tests of a mutant, and tells whether they fail.
func (m mutant) run(args ...string) (out string, missed bool) {
	args = append(args, "-test.timeout", "2m", "-rapid.nofailfile", "-rapid.shrinktime", "0s") // that it is found is enough
	text, err := exec.Command(m.program, args...).CombinedOutput()
	return string(text), err != nil
}

// always tells whether a play is found to break a rule however its goroutines are scheduled,
// as far as one can tell.
func (m mutant) always(seed uint64) bool {
	for _, processors := range []string{"1", "2", "4"} {
		for range 30 {
			if _, missed := m.run(append(onePlay(seed), "-test.run", "^TestContract$", "-test.cpu", processors)...); !missed {
				return false
			}
		}
	}
	return true
}

// search returns the seed of a play that is always found to break a rule.
func (m mutant) search(t *testing.T) uint64 {
	printed := regexp.MustCompile(`-rapid\.seed=(\d+)`)
	for range 20 {
		out, missed := m.run("-test.run", "^TestContract$", "-rapid.checks", "30000", "-rapid.seed", "0")
		if of := printed.FindStringSubmatch(out); missed && of != nil {
			seed, err := strconv.ParseUint(of[1], 10, 64)
			require.NoError(t, err)
			if m.always(seed) {
				return seed
			}
		}
	}
	require.Fail(t, "no play finds it each time: write a test of the rule, and name it in the mutation")
	return 0
}

// seeds are what seedsFile keeps.
type seeds struct {
	mu   sync.Mutex // guards kept
	kept map[string]uint64
}

func readSeeds(t *testing.T) *seeds {
	text, err := os.ReadFile(seedsFile)
	require.NoError(t, err)
	s := &seeds{}
	require.NoError(t, json.Unmarshal(text, &s.kept))
	return s
}

func (s *seeds) of(off string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[off]
}

func (s *seeds) keep(t *testing.T, off string, seed uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept[off] = seed
	text, err := json.MarshalIndent(s.kept, "", "\t")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(seedsFile, append(text, '\n'), 0o600))
}
