// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/goproxytest"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/tools/txtar"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hack": hackMain})
}

// TestScript runs testdata/script: the CLI as users see it, on an invented upstream (testdata/mod)
// and an invented series (invented_test.go).
func TestScript(t *testing.T) {
	env := newUpstream(t)
	env = append(env, "ARCH="+runtime.GOARCH)
	for _, program := range []string{"git", "hack"} { // for a script with a PATH of its own
		path, err := exec.LookPath(program)
		require.NoError(t, err)
		env = append(env, strings.ToUpper(program)+"="+path)
	}
	testscript.Run(t, testscript.Params{
		Dir:                filepath.Join("testdata", "script"),
		RequireUniqueNames: true,
		Setup: func(script *testscript.Env) error {
			script.Vars = append(script.Vars, env...)
			return writeRepo(filepath.Join(script.WorkDir, "repo"))
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"lock":    lock,
			"oneline": oneLine,
		},
	})
}

// newUpstream serves the invented modules. With the environment that it returns, the go command
// finds no others. It has a module cache of its own, and the shared build cache.
func newUpstream(t *testing.T) []string {
	proxy := goproxytest.NewTestServer(t, filepath.Join("testdata", "mod"), "")
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	require.NoError(t, err)
	env := []string{
		"GOPROXY=" + proxy.URL,
		"GOSUMDB=off",
		"GOMODCACHE=" + filepath.Join(t.TempDir(), "mod"),
		"GOCACHE=" + strings.TrimSpace(string(cache)),
		"GOTOOLCHAIN=local",
		"GORACE=atexit_sleep_ms=0", // otherwise each of many short runs takes a second longer
	}
	t.Cleanup(func() { // the module cache is read-only, the folder of the test must go
		clean := exec.Command("go", "clean", "-modcache")
		clean.Env = append(os.Environ(), env...)
		require.NoError(t, clean.Run())
	})
	return env
}

// writeRepo writes the repository that the invented series belongs to.
func writeRepo(dir string) error {
	repo, err := txtar.ParseFile(filepath.Join("testdata", "repo.txtar"))
	if err != nil {
		return err
	}
	for _, f := range repo.Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// lock FILE TEXT takes the lock FILE as another run would, until the script ends.
func lock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lock FILE TEXT")
	}
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	f, err := os.Create(name)
	ts.Check(err)
	ts.Defer(func() { _ = f.Close() })
	ts.Check(unix.Flock(int(f.Fd()), unix.LOCK_EX))
	_, err = f.WriteString(args[1] + "\n")
	ts.Check(err)
}

// oneline FILE makes sure that FILE, most often stderr, is one line.
func oneLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: oneline FILE")
	}
	text := ts.ReadFile(args[0])
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("not one line:\n%s", text)
	}
}
