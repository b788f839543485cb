// SPDX-License-Identifier: Apache-2.0

//go:build linux

package cniexec

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/containernetworking/cni/pkg/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
)

// generous is far longer than anything here takes, and far shorter than a plugin that hangs.
const generous = 30 * time.Second

// plugin writes a shell script and returns its path. It finds a folder of its
// own in $DIR.
func plugin(t *testing.T, script string) (path, dir string) {
	dir = t.TempDir()
	path = filepath.Join(dir, "plugin")
	text := "#!/bin/sh\nDIR='" + dir + "'\n" + script + "\n"
	require.NoError(t, os.WriteFile(path, []byte(text), 0o755))
	return path, dir
}

// hang is a script that hangs: it reads a pipe without a writer.
const hang = "mkfifo $DIR/silent; read line < $DIR/silent"

func run(t *testing.T, e *Exec, timeout time.Duration, path string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	began := time.Now()
	out, err := e.ExecPlugin(ctx, path, []byte("input"), []string{"PATH=" + os.Getenv("PATH"), "CNI_COMMAND=STATUS"})
	assert.Less(t, time.Since(began), generous)
	return string(out), err
}

// gone waits until the process whose id is in the file has ended.
func gone(t *testing.T, file string) {
	t.Helper()
	assert.Eventually(t, func() bool {
		text, err := os.ReadFile(file)
		if err != nil {
			return false
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return false
		}
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		// An orphan may never be reaped here, so a zombie counts as gone.
		return err != nil || strings.Contains(string(stat), ") Z ")
	}, generous, 10*time.Millisecond)
}

func TestAnswers(t *testing.T) {
	for name, test := range map[string]struct {
		script string
		out    string
		said   *types.Error
		fails  string
	}{
		"result": {
			script: `cat; echo " $CNI_COMMAND"`, out: "input STATUS\n",
		},
		"error": {
			script: `echo '{"code": 50, "msg": "agent is down", "details": "no socket"}'; exit 1`,
			said:   types.NewError(50, "agent is down", "no socket"),
		},
		"error with code 0": {
			script: `echo '{"msg": "agent is down"}'; exit 1`,
			said:   types.NewError(0, "agent is down", ""),
		},
		"garbage":            {script: `echo 'segmentation \377 fault'; exit 2`, fails: `exit status 2 without a CNI error: "segmentation \xff fault"`},
		"garbage and no end": {script: `echo 'all fine, or so'`, out: "all fine, or so\n"},
		"another's JSON":     {script: `echo '{"level": "info"}'; exit 1`, fails: `without a CNI error: "{\"level\": \"info\"}"`},
		"stderr":             {script: `echo 'not a word' >&2; exit 1`, fails: `exit status 1 without a CNI error: "not a word"`},
		"silent":             {script: `exit 3`, fails: "exit status 3 without output"},
		"killed":             {script: `kill -9 $$`, fails: "signal: killed without output"},
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := plugin(t, test.script)
			out, err := run(t, &Exec{}, generous, path)
			assert.Equal(t, test.out, out)
			var answer *types.Error
			switch {
			case test.said != nil:
				require.ErrorAs(t, err, &answer)
				assert.Equal(t, test.said, answer)
			case test.fails != "":
				assert.ErrorContains(t, err, test.fails)
				assert.ErrorContains(t, err, path)
				assert.False(t, errors.As(err, &answer), "the plugin did not answer it")
			default:
				assert.NoError(t, err)
			}
		})
	}
}

func TestNoPlugin(t *testing.T) {
	_, err := (&Exec{}).FindInPath("absent", []string{t.TempDir()})
	assert.Error(t, err)
	_, err = run(t, &Exec{}, generous, filepath.Join(t.TempDir(), "absent"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestDeadlineHolds(t *testing.T) {
	for name, script := range map[string]string{
		"plugin hangs": `echo $$ > $DIR/left; ` + hang,
		"with a child": `sh -c 'echo $$ > '$DIR'/left; mkfifo '$DIR'/silent; read line < '$DIR'/silent' & wait`,
		"deaf to TERM": `trap '' TERM INT HUP; echo $$ > $DIR/left; ` + hang,
		"with its stdin unread and its output full": `head -c 200000 /dev/zero >&2; echo $$ > $DIR/left; cat /dev/zero >&2`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := cut(t, &Exec{}, script, context.DeadlineExceeded)
			assert.ErrorIs(t, err, context.DeadlineExceeded)
			gone(t, filepath.Join(dir, "left"))
		})
	}
}

// slow is a host whose kernel takes long to end the processes that a plugin started.
type slow struct{ groups }

func (slow) kill(p *os.Process) {
	_ = p.Kill()
	time.AfterFunc(200*time.Millisecond, func() { groups{}.kill(p) })
}

// running reports whether the process whose id is in the file runs, without waiting.
func running(t *testing.T, file string) bool {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(text)), "stat"))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// ending is a context that ends when it is canceled, with the error as.
type ending struct {
	context.Context
	as error
}

func (e ending) Err() error {
	if e.Context.Err() == nil {
		return nil
	}
	return e.as
}

// cut runs a plugin whose context ends once the plugin has written the file "left".
func cut(t *testing.T, e *Exec, script string, as error) (dir string, err error) {
	t.Helper()
	path, dir := plugin(t, script)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		assert.Eventually(t, func() bool {
			text, err := os.ReadFile(filepath.Join(dir, "left"))
			return err == nil && strings.HasSuffix(string(text), "\n")
		}, generous, time.Millisecond)
	}()
	began := time.Now()
	_, err = e.ExecPlugin(ending{ctx, as}, path, []byte("input"), []string{"PATH=" + os.Getenv("PATH"), "CNI_COMMAND=ADD"})
	assert.Less(t, time.Since(began), generous)
	return dir, err
}

// orphan starts a child that outlives its plugin, and holds none of the plugin's pipes.
const orphan = `mkfifo $DIR/silent
sh -c 'echo $$ > '$DIR'/left; read line < '$DIR'/silent' > /dev/null 2>&1 &
wait`

// When the call returns, no process of the killed plugin is left.
func TestL7_KilledPluginLeavesNoOrphan(t *testing.T) {
	for name, host := range map[string]host{"host": groups{}, "slow host": slow{}} {
		t.Run(name, func(t *testing.T) {
			dir, err := cut(t, &Exec{Patience: generous, host: host}, orphan, context.Canceled)
			assert.ErrorIs(t, err, context.Canceled)
			assert.False(t, running(t, filepath.Join(dir, "left")))
		})
	}
}

// stuck is a host with a process that cannot be killed.
type stuck struct{ groups }

func (stuck) left(*os.Process) []int { return []int{4711} }

// The call returns without it, and its error names it.
func TestOrphanThatCannotBeKilled(t *testing.T) {
	_, err := cut(t, &Exec{Patience: 50 * time.Millisecond, host: stuck{}}, orphan, context.Canceled)
	assert.ErrorIs(t, err, context.Canceled)
	assert.ErrorContains(t, err, "processes [4711] of its group have not ended after 50ms")
}

// A process counts as long as any thread of it runs, and not while it waits to be
// reaped.
func TestMemberOfAGroup(t *testing.T) {
	for stat, member := range map[string]bool{
		"12 (host-local) R 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 4 0":  true,
		"12 (a) Z 9 (b) D 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0":   true,
		"12 (host-local) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 2 0":  true,
		"12 (host-local) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0":  false,
		"12 (host-local) X 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 0 0":  false,
		"12 (host-local) R 1 77 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0": false,
		"12 (host-local": false,
		"":               false,
	} {
		assert.Equal(t, member, runsIn(7, stat), stat)
	}
}

// On systems without process groups, only the plugin's own process is killed, and not if it
// answers.
func TestHostWithoutGroups(t *testing.T) {
	for _, sweep := range []bool{false, true} {
		e := &Exec{Sweep: sweep, host: alone{}}
		path, _ := plugin(t, `read input; echo "$input and an answer"`)
		out, err := run(t, e, generous, path)
		assert.NoError(t, err)
		assert.Equal(t, "input and an answer\n", out)

		dir, err := cut(t, e, `echo $$ > $DIR/left; `+hang, context.DeadlineExceeded)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		gone(t, filepath.Join(dir, "left"))

		path, _ = plugin(t, grandchild)
		out, err = run(t, e, generous, path)
		assert.NoError(t, err)
		assert.Equal(t, "answer\n", out)
		leftovers(t, path)
	}
}

func TestDeadlinePassedBefore(t *testing.T) {
	path, dir := plugin(t, "touch $DIR/ran")
	_, err := run(t, &Exec{}, 0, path)
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NoFileExists(t, filepath.Join(dir, "ran"))
}

// grandchild starts a process that outlives the plugin, and holds the plugin's pipes.
const grandchild = `mkfifo $DIR/silent $DIR/up
sh -c 'echo $$ > '$DIR'/left; echo up > '$DIR'/up; read line < '$DIR'/silent' &
read line < $DIR/up
echo answer
`

func TestGrandchildOnPipe(t *testing.T) {
	t.Run("is swept", func(t *testing.T) {
		path, dir := plugin(t, grandchild)
		out, err := run(t, &Exec{Sweep: true}, generous, path)
		assert.NoError(t, err)
		assert.Equal(t, "answer\n", out)
		gone(t, filepath.Join(dir, "left"))
	})
	t.Run("is left alone", func(t *testing.T) {
		path, _ := plugin(t, grandchild)
		out, err := run(t, &Exec{}, generous, path)
		assert.NoError(t, err)
		assert.Equal(t, "answer\n", out)
		leftovers(t, path)
	})
	t.Run("error is the plugin's", func(t *testing.T) {
		path, _ := plugin(t, grandchild+`exit 4`)
		_, err := run(t, &Exec{}, generous, path)
		assert.ErrorContains(t, err, `exit status 4 without a CNI error: "answer"`)
		leftovers(t, path)
	})
	t.Run("has left the group", func(t *testing.T) {
		path, _ := plugin(t, strings.Replace(grandchild, "sh -c", "setsid sh -c", 1))
		out, err := run(t, &Exec{Sweep: true}, generous, path)
		assert.NoError(t, err)
		assert.Equal(t, "answer\n", out)
		leftovers(t, path)
	})
}

// The deadline passes after the plugin exited, while its output is still read: it has answered
// in time.
func TestDeadlineAfterTheAnswer(t *testing.T) {
	path, dir := plugin(t, "echo $$ > $DIR/pid\n"+grandchild)
	ctx, cancel := context.WithCancel(t.Context())
	var seen sync.WaitGroup
	seen.Go(func() {
		defer cancel()
		gone(t, filepath.Join(dir, "pid"))
	})
	out, err := (&Exec{}).ExecPlugin(ctx, path, nil, []string{"PATH=" + os.Getenv("PATH")})
	seen.Wait()
	assert.NoError(t, err)
	assert.Equal(t, "answer\n", string(out))
	leftovers(t, path)
}

// unnoticed is a host that has not noticed yet that the plugin exited.
type unnoticed struct{ groups }

func (unnoticed) awaitExit(*os.Process) bool { return false }

// The same, in the moment before its exit is noticed: the kill comes too late.
func TestDeadlineAtTheAnswer(t *testing.T) {
	path, dir := plugin(t, "echo $$ > $DIR/pid\n"+grandchild)
	ctx, cancel := context.WithCancel(t.Context())
	var seen sync.WaitGroup
	seen.Go(func() {
		defer cancel()
		gone(t, filepath.Join(dir, "pid"))
	})
	out, err := (&Exec{host: unnoticed{}}).ExecPlugin(ctx, path, nil, []string{"PATH=" + os.Getenv("PATH")})
	seen.Wait()
	assert.NoError(t, err)
	assert.Equal(t, "answer\n", string(out))
	leftovers(t, path)
}

// A process that a plugin leaves in the background writes to its output after the call.
func TestOrphanMayWriteLater(t *testing.T) {
	path, dir := plugin(t, `mkfifo $DIR/go
(read line <$DIR/go; echo more; echo more >&2; echo done >$DIR/left) &
echo answer`)
	out, err := run(t, &Exec{}, generous, path)
	require.NoError(t, err)
	assert.Equal(t, "answer\n", out)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go"), []byte("go\n"), 0))
	assert.Eventually(t, func() bool {
		text, _ := os.ReadFile(filepath.Join(dir, "left"))
		return string(text) == "done\n"
	}, generous, time.Millisecond)
}

func TestStderrIsPassedOn(t *testing.T) {
	path, _ := plugin(t, `echo 'not a word' >&2; exit 1`)
	var passed strings.Builder
	_, err := run(t, &Exec{Stderr: &passed}, generous, path)
	assert.ErrorContains(t, err, `exit status 1 without a CNI error: "not a word"`)
	assert.Equal(t, "not a word\n", passed.String())
}

// brokenPipe is the log of a runtime whose reader is gone.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestStderrOfTheRuntimeIsBroken(t *testing.T) {
	path, _ := plugin(t, `echo 'a warning' >&2; echo answer`)
	out, err := run(t, &Exec{Stderr: brokenPipe{}}, generous, path)
	assert.NoError(t, err)
	assert.Equal(t, "answer\n", out)
}

func TestTraceGoesOn(t *testing.T) {
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled})
	ctx := trace.ContextWithSpanContext(t.Context(), span)
	path, _ := plugin(t, `echo $TRACEPARENT`)
	out, err := (&Exec{}).ExecPlugin(ctx, path, nil, nil)
	assert.NoError(t, err)
	assert.Equal(t, "00-01000000000000000000000000000000-0200000000000000-01\n", string(out))
}

// leftovers kills the process that the plugin left, which must still be running.
func leftovers(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "left"))
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
}

func TestOutputIsBounded(t *testing.T) {
	path, _ := plugin(t, `exec cat /dev/zero`)
	out, err := run(t, &Exec{}, generous, path)
	assert.ErrorIs(t, err, ErrOutput)
	assert.Empty(t, out)
	assert.Less(t, len(err.Error()), 8*maxQuoted)

	path, _ = plugin(t, `head -c 200000 /dev/zero >&2; echo fine`)
	out, err = run(t, &Exec{}, generous, path)
	assert.NoError(t, err)
	assert.Equal(t, "fine\n", out)
}

// written is a host on which the plugin is being written up to the second try.
type written struct {
	groups
	writer *os.File
	tries  int
}

func (w *written) apart(cmd *exec.Cmd) {
	w.groups.apart(cmd)
	if w.tries++; w.tries == 2 {
		w.writer.Close()
	}
}

// TestBusy runs a plugin that is being written. A script stands in for it: the kernel runs no
// file that a process has open for writing.
func TestBusy(t *testing.T) {
	path, _ := plugin(t, `echo written`)
	writer, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	host := &written{writer: writer}
	out, err := run(t, &Exec{host: host}, generous, path)
	assert.NoError(t, err)
	assert.Equal(t, "written\n", out)
	assert.GreaterOrEqual(t, host.tries, 2)
}
