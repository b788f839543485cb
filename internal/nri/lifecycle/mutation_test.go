// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

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
}

var mutations = []mutation{
	{
		off:  "one request at a time",
		file: "lane.go",
		from: "if !l.held {\n\t\tl.held = true\n\t\treturn 0, nil",
		to:   "if true {\n\t\tl.held = true\n\t\treturn 0, nil",
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
		from: "held:    true,",
		to:   "held:    false,",
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
		from: "if c.mark != stopped {",
		to:   "if c.mark != stopped && !remove {",
	},
	{
		off:  "who joins meanwhile is asked too",
		file: "creation.go",
		from: "if lanes == nil {",
		to:   "if lanes == nil || asked > 0 {",
	},
	{
		off:  "the runtime lists after the connection came in",
		file: "join.go",
		from: "l, b, err := e.enroll(conn)",
		to:   "early, listErr := list(ctx)\n\tlist = func(context.Context) (Snapshot, error) { return early, listErr }\n\tl, b, err := e.enroll(conn)",
	},
	{
		off:  "containers on their way to the runtime's list are listed",
		file: "join.go",
		from: "for _, ev := range b.creations {",
		to:   "for _, ev := range b.creations[:0] {",
	},
	{
		off:  "what Synchronize told is known",
		file: "join.go",
		from: "l.ledger.seed(snapshot)",
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
		file: "join.go",
		from: "p.Stopped = p.Stopped || ph == ended",
		to:   "_ = ended",
	},
	{
		off:  "a pod whose Remove is out is not listed",
		file: "join.go",
		from: "if ph == leaving {",
		to:   "if false {",
	},
	{
		off:  "a container whose end is out is not listed",
		file: "join.go",
		from: "if b.endings.phase(o) != alive {",
		to:   "if false {",
	},
	{
		off:  "two removals at once are two",
		file: "endings.go",
		from: "if e.removals > 1 {",
		to:   "if false {",
	},
	{
		off:  "a plugin that refused a pod hears its end",
		file: "ask.go",
		from: "reply, err, fail := l.deliver(d, ev, waited, nil)",
		to:   "reply, err, fail := l.deliver(d, ev, waited, nil)\n\tif err != nil && ev.Kind == RunPodSandbox {\n\t\tdelete(l.ledger.pods, ev.Pod)\n\t}",
	},
	{
		off:  "a Stop that failed is not sent again",
		file: "drain.go",
		from: "p.add(ev, reply, err)",
		to:   "p.add(ev, reply, err)\n\tif e, ok := l.ledger.pods[ev.Pod]; ok && err != nil && ev.Kind == StopPodSandbox {\n\t\te.mark = told\n\t\tl.ledger.pods[ev.Pod] = e\n\t\tp.next++\n\t}",
	},
	{
		off:  "nothing is sent of what is unknown",
		file: "ledger.go",
		from: "return pod.mark == listed || pod.mark == told, nil",
		to:   "return pod.mark != stopped, nil",
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
		from: "l.line = append(l.line, entry{note: ev})",
		to:   "_ = ev",
	},
	{
		off:  "only what was subscribed to is sent",
		file: "ask.go",
		from: "if l.subscribed(ev.Kind) {",
		to:   "if true {",
	},
	{
		off:  "nobody waits for the ends of who did not subscribe",
		file: "drain.go",
		from: "if !l.cares(r) {",
		to:   "if false {",
	},
	{
		off:  "nobody waits for the events of who did not subscribe",
		file: "lane.go",
		from: "func (l *lane) note(ev Event, c *creation) error {\n\tl.mu.Lock()",
		to:   "func (l *lane) note(ev Event, c *creation) error {\n\tif _, err := l.enter(context.Background()); err != nil {\n\t\treturn errAbsent\n\t}\n\tl.leave()\n\tl.mu.Lock()",
	},
	{
		off:  "the end of a pod ends the creations in it",
		file: "creation.go",
		from: "return c != nil && c.doomed.Load()",
		to:   "return false",
	},
	{
		off:  "no container is created in a pod that is gone",
		file: "creation.go",
		from: "if ev.Container != \"\" && !e.opts.Alive(ev.Pod) {",
		to:   "if false {",
	},
	{
		off:  "ends do not end with their caller",
		file: "teardown.go",
		from: "ctx: context.WithoutCancel(ctx)",
		to:   "ctx: ctx",
	},
	{
		off:  "all are told at once",
		file: "teardown.go",
		from: "parts = append(parts, p)",
		to:   "parts = append(parts, p)\n\t\t\t<-p.done",
	},
	{
		off:  "a teardown waits for one bound",
		file: "teardown.go",
		from: "context.WithTimeout(context.Background(), wait)",
		to:   "context.WithCancel(context.Background())",
	},
	{
		off:  "a second stop waits for the first",
		file: "drain.go",
		from: "case p != nil:\n\t\tp.late.Store(false)",
		to:   "case p != nil:\n\t\treturn nil",
	},
	{
		off:  "a caller who gives up leaves the line",
		file: "lane.go",
		from: "if l.withdraw(c) {",
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
		from: "at: time.Now().Add(timeout)}",
		to:   "at: time.Now().Add(9 * timeout)}",
	},
	{
		off:  "a request that hangs is cut",
		file: "deliver.go",
		from: "d.at = l.started.Add(l.engine.opts.RequestTimeout())",
		to:   "d.at = l.started.Add(3 * l.engine.opts.RequestTimeout())",
	},
	{
		off:  "a deadline of the caller is not the plugin's failure",
		file: "deliver.go",
		from: "case d.Context.Err() != nil:",
		to:   "case false:",
	},
	{
		off:  "a plugin that its policy drops is dropped",
		file: "deliver.go",
		from: "if drop {",
		to:   "if drop && false {",
	},
	{
		off:  "the line is bounded",
		file: "lane.go",
		from: "return len(l.line) >= l.engine.opts.BacklogLimit",
		to:   "return false",
	},
	{
		off:  "the engine forgets what the runtime no longer lists",
		file: "join.go",
		from: "if !there[pod] {",
		to:   "if false {",
	},
}

// found is how TestContract says that a rule is broken: by its id, by those who
// wait forever, or by what is kept forever.
var found = regexp.MustCompile(`L\d+: .*|deadlock.*|the (engine|ledger) .*keeps.*`)

// TestMutations shows that TestContract finds each rule missing.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the engine once for each mutation")
	}
	for _, m := range mutations {
		t.Run(strings.ReplaceAll(m.off, " ", "_"), func(t *testing.T) {
			out, err := testMutated(t, m)
			require.Error(t, err, "the rule is not missed:\n%s", out)
			first := found.FindString(out)
			require.NotEmpty(t, first, "%s", out[:min(len(out), 4000)])
			t.Logf("found: %s", first)
		})
	}
}

// testMutated runs TestContract on a mutated engine.
func testMutated(t *testing.T, m mutation) (string, error) {
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

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "go", "test", "-overlay", overlayFile, "-run", "^TestContract$", "-count", "1", "-timeout", "60s",
		".", "-rapid.checks", "30000", "-rapid.nofailfile", "-rapid.shrinktime", "1s")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
