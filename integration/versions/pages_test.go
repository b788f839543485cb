// SPDX-License-Identifier: Apache-2.0

package versions

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	. "github.com/hookline-nri/hookline/integration/fixture"
	"github.com/hookline-nri/hookline/testkit/image"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/script"
)

// The page with the program that the other pages run, and the begins of blocks in pages.
const (
	programPage    = "../../docs/upstream/review-of-286.md"
	reproduction   = "```sh\n"
	whatItPrints   = "```diff\n"
	clientsAndPins = "../../hack/tools/clients"
	crictlsProgram = "sigs.k8s.io/cri-tools/cmd/crictl"
)

// A page that shows a fault has commands and their output: lines with a minus on stock alone, lines
// with a plus with the change.
func TestPagesShowTheirOutput(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../docs/upstream/*.md")
	require.NoError(t, err)
	pulls, err := filepath.Glob("../../patches/*/*/pull.md")
	require.NoError(t, err)
	programs := buildPrograms(t)
	tried := 0
	for _, page := range append(pages, pulls...) {
		text, err := os.ReadFile(page)
		require.NoError(t, err)
		commands, ok := block(string(text), reproduction)
		if !ok {
			continue
		}
		prints, ok := block(string(text), whatItPrints)
		require.True(t, ok, "%s has commands, and not their output", page)
		require.NotEqual(t, without('+', prints), without('-', prints), "%s shows no difference", page)
		tried++
		t.Run(filepath.Base(strings.TrimSuffix(strings.TrimSuffix(page, "/pull.md"), ".md")), func(t *testing.T) {
			t.Parallel()
			for b, other := range map[build]byte{stock: '+', buildWith(page): '-'} {
				t.Run(filepath.Dir(string(b)), func(t *testing.T) {
					t.Parallel()
					assert.Equal(t, without(other, prints), reproduce(t, b, programs, commands))
				})
			}
		})
	}
	require.NotZero(t, tried)
}

// buildWith returns the smallest build that has the change of a page.
func buildWith(page string) build {
	if filepath.Base(page) == "design-for-165.md" {
		return patched
	}
	return core
}

// block returns the content of the first block of a kind in a page.
func block(page, kind string) (text string, ok bool) {
	_, after, ok := strings.Cut(page, "\n"+kind)
	if !ok {
		return "", false
	}
	text, _, ok = strings.Cut(after, "```")
	return text, ok
}

// without returns the lines that do not have a sign, each without its own.
func without(sign byte, prints string) (lines []string) {
	for line := range strings.Lines(prints) {
		if line[0] != sign {
			lines = append(lines, strings.TrimSuffix(line[1:], "\n"))
		}
	}
	return lines
}

// buildPrograms builds crictl and the page's plugin, and writes the page's requests for crictl,
// with the image of the nodes.
func buildPrograms(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	page, err := os.ReadFile(programPage)
	require.NoError(t, err)
	program, ok := block(string(page), "```go\n")
	require.True(t, ok)
	_, requests, ok := strings.Cut(string(page), "\n```json\n")
	require.True(t, ok)
	pod, requests, ok := strings.Cut(requests, "```")
	require.True(t, ok)
	container, ok := block(requests, "```json\n")
	require.True(t, ok)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "pod.json"), []byte(pod), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "container.json"), ofPage.ReplaceAll([]byte(container), []byte(image.Name)), 0o600))
	source := filepath.Join(folder, "repro.go")
	require.NoError(t, os.WriteFile(source, []byte(program), 0o600))
	for _, build := range [][]string{
		{"build", "-o", filepath.Join(folder, "repro"), source},
		{"build", "-C", clientsAndPins, "-o", filepath.Join(folder, "crictl"), crictlsProgram},
	} {
		said, err := exec.CommandContext(t.Context(), "go", build...).CombinedOutput()
		require.NoError(t, err, "%s", said)
	}
	return folder
}

// ofPage is the image in pages. The nodes of tests have another one.
var ofPage = regexp.MustCompile(`registry\.k8s\.io/[^"]*`)

// ofCrictl matches lines with an identifier, which differs each time.
var ofCrictl = regexp.MustCompile(`^((Stopped|Removed) sandbox )?[0-9a-f]{64}$`)

// Commands before and after those of a page: they mount the node's NRI socket at the default path,
// and end the plugins.
const (
	before = "mkdir run && mount --rbind /run run && mount -t tmpfs none /run && mkdir /run/nri /run/hookline && " +
		"mount --rbind run/hookline /run/hookline && mount --bind '@NRI@' /run/nri || exit\n"
	after = "kill $(jobs -p) 2>/dev/null; wait; true"
)

// reproduce runs the commands of a page on a node of their own.
func reproduce(t *testing.T, b build, programs, commands string) (lines []string) {
	t.Helper()
	n := StartNode(t, func(o *node.Options) { o.Bin = filepath.Join(Built, string(b)) })
	folder := t.TempDir()
	for _, request := range []string{"pod.json", "container.json"} {
		require.NoError(t, os.Symlink(filepath.Join(programs, request), filepath.Join(folder, request)))
	}
	restartOnRequest(t, n, folder)
	bin, conf := n.CNI()
	cmd := exec.CommandContext(WithinAMinute(t), "unshare", "--mount", "bash", "-c", strings.NewReplacer(
		"@NRI@", filepath.Dir(n.NRISocket()), "/opt/cni/bin", bin, "/etc/cni/net.d", conf).Replace(before+commands+after))
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "PATH="+folder+":"+programs+":"+os.Getenv("PATH"), "CONTAINER_RUNTIME_ENDPOINT=unix://"+n.CRISocket())
	cmd.Stderr = t.Output()
	// Background commands end with it.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	said, err := cmd.Output()
	require.NoError(t, err, "%s", said)
	for line := range strings.Lines(string(said)) {
		line = strings.TrimSuffix(line, "\n")
		if !ofCrictl.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// restartOnRequest restarts the containerd of a node when a page's commands call systemctl.
func restartOnRequest(t *testing.T, n *node.Node, folder string) {
	t.Helper()
	asked, done := filepath.Join(folder, "asked"), filepath.Join(folder, "done")
	require.NoError(t, unix.Mkfifo(asked, 0o600))
	require.NoError(t, unix.Mkfifo(done, 0o600))
	require.NoError(t, script.Write(filepath.Join(folder, "systemctl"), "#!/bin/sh\necho > asked; read answer < done; [ -z \"$answer\" ]\n"))
	// Both ends are open for both directions, so that neither waits for the other.
	requests, err := os.OpenFile(asked, os.O_RDWR, 0)
	require.NoError(t, err)
	answers, err := os.OpenFile(done, os.O_RDWR, 0)
	require.NoError(t, err)
	ctx, ended := WithinAMinute(t), make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := requests.Read(make([]byte, 1)); err != nil {
			return // no more
		}
		err := n.Stop(ctx)
		if err == nil {
			err = n.Boot(ctx)
		}
		said := "\n"
		if err != nil {
			said = "failed\n"
		}
		_, _ = answers.WriteString(said)
		assert.NoError(t, err)
	}()
	t.Cleanup(func() {
		require.NoError(t, requests.Close())
		<-ended
		require.NoError(t, answers.Close())
	})
}
