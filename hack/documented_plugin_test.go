// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/hookline-nri/hookline/conformance/liar"
)

// The plugin of docs/plugins.md is the example, and builds with its go.mod, before the modules have a tag.
func TestDocumentedPluginBuilds(t *testing.T) {
	page, err := os.ReadFile("../docs/plugins.md")
	require.NoError(t, err)
	program := block(t, string(page), "go", "package main")
	example, err := os.ReadFile("../integration/example/keeper/main.go")
	require.NoError(t, err)
	require.Equal(t, strings.TrimPrefix(string(example), "// SPDX-License-Identifier: Apache-2.0\n\n"), program)
	test, err := os.ReadFile("../integration/example/keeper/main_test.go")
	require.NoError(t, err)
	require.Contains(t, string(test), block(t, string(page), "go", "plugintest.Worst"))
	runs(t, buildDocumented(t, program, block(t, string(page), "", "module example.com/keeper")))
}

// buildDocumented builds the plugin in a folder beside a clone, which is this tree.
func buildDocumented(t *testing.T, program, mod string) string {
	t.Helper()
	clone, err := filepath.Abs("..")
	require.NoError(t, err)
	beside := t.TempDir()
	author := filepath.Join(beside, "keeper")
	require.NoError(t, os.Mkdir(author, 0o755))
	require.NoError(t, os.Symlink(clone, filepath.Join(beside, "hookline")))
	require.NoError(t, os.WriteFile(filepath.Join(author, "main.go"), []byte(program), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(author, "go.mod"), []byte(mod), 0o644))
	env := authorsGo(t, t.TempDir())
	for _, args := range [][]string{{"mod", "tidy"}, {"vet", "."}, {"build", "."}} {
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir, cmd.Env = author, env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "go %s: %s", strings.Join(args, " "), out)
	}
	return filepath.Join(author, "keeper")
}

// runs has the plugin keep a folder for each pod of a runtime, and for no pod that was removed
// while it was disconnected.
func runs(t *testing.T, plugin string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "keeper") // short enough for sockets
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	r, err := liar.Start(folder, liar.Honest)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	first, root := runPod(t, r, "first"), filepath.Join(folder, "root")

	socket := filepath.Join(folder, "cut.sock")
	cut := forward(t, socket, r.NRI())
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), plugin, "-socket", socket, "-root", root)
	cmd.Stdout, cmd.Stderr = &said, &said
	require.NoError(t, cmd.Start())
	kept := func(want ...string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			folders, err := filepath.Glob(filepath.Join(root, "pods", "*"))
			assert.NoError(c, err)
			var got []string
			for _, name := range folders {
				got = append(got, filepath.Base(name))
			}
			assert.ElementsMatch(c, want, got)
		}, time.Minute, 10*time.Millisecond)
	}
	kept(first)
	second := runPod(t, r, "second")
	kept(first, second)
	endPod(t, r, second)
	kept(first)

	cut()
	endPod(t, r, first)
	kept(first)
	cut = forward(t, socket, r.NRI())
	kept()
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, cmd.Wait(), said.String())
	cut()
}

// forward serves a socket with what another one serves, until cut is called, which also closes
// its connections.
func forward(t *testing.T, socket, to string) (cut func()) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	var mu sync.Mutex
	var open []net.Conn
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			conn, err := net.Dial("unix", to)
			if err != nil {
				_ = from.Close()
				continue
			}
			mu.Lock()
			open = append(open, from, conn)
			mu.Unlock()
			go func() { _, _ = io.Copy(conn, from) }()
			go func() { _, _ = io.Copy(from, conn) }()
		}
	}()
	return func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range open {
			_ = c.Close()
		}
	}
}

// runPod runs a pod on the host's network.
func runPod(t *testing.T, on *liar.Runtime, name string) string {
	t.Helper()
	host := &runtime.NamespaceOption{Network: runtime.NamespaceMode_NODE}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	pod, err := on.RunPodSandbox(ctx, &runtime.RunPodSandboxRequest{Config: &runtime.PodSandboxConfig{
		Metadata: &runtime.PodSandboxMetadata{Name: name, Namespace: "default", Uid: name},
		Linux:    &runtime.LinuxPodSandboxConfig{SecurityContext: &runtime.LinuxSandboxSecurityContext{NamespaceOptions: host}},
	}})
	require.NoError(t, err)
	return pod.GetPodSandboxId()
}

func endPod(t *testing.T, of *liar.Runtime, pod string) {
	t.Helper()
	_, err := of.StopPodSandbox(t.Context(), &runtime.StopPodSandboxRequest{PodSandboxId: pod})
	require.NoError(t, err)
	_, err = of.RemovePodSandbox(t.Context(), &runtime.RemovePodSandboxRequest{PodSandboxId: pod})
	require.NoError(t, err)
}

// block is the one block of a language in a page that has a text, without the indent that it has in a list.
func block(t *testing.T, page, language, has string) string {
	t.Helper()
	var found []string
	for _, b := range regexp.MustCompile("(?ms)^( *)```([a-z]*)\n(.*?)^ *```$").FindAllStringSubmatch(page, -1) {
		if b[2] == language && strings.Contains(b[3], has) {
			found = append(found, regexp.MustCompile("(?m)^"+b[1]).ReplaceAllString(b[3], ""))
		}
	}
	require.Len(t, found, 1, "blocks of %q with %q", language, has)
	return found[0]
}
