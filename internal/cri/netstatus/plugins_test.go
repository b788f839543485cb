// SPDX-License-Identifier: Apache-2.0

//go:build linux

package netstatus

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/cri/cniexec"
)

// generous is far longer than anything here takes, and far shorter than a plugin that hangs.
const generous = 30 * time.Second

// hang is a script that hangs: it reads a pipe without a writer.
const hang = `mkfifo $DIR/silent; read line < $DIR/silent`

// script writes a plugin named real, which notes each STATUS and then runs the lines of status.
// It answers any other command as a plugin should. go-cni's loopback is beside it.
func script(t testing.TB, status string) (dir string) {
	dir = t.TempDir()
	text := strings.Join([]string{
		"#!/bin/sh",
		"DIR='" + dir + "'",
		"cat > /dev/null",
		`case $CNI_COMMAND in`,
		`ADD) echo '{"cniVersion": "1.0.0", "ips": []}'; exit ;;`,
		`STATUS) echo asked >> $DIR/asked ;;`,
		`*) exit ;;`,
		`esac`,
		status, ""}, "\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "real"), []byte(text), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "loopback"), []byte(strings.Replace(text, `"1.0.0"`, `"0.3.1"`, 1)), 0o755))
	return dir
}

// load returns a go-cni with the loopback and a network of that plugin.
func load(t testing.TB, dir, cniVersion string) gocni.CNI {
	loaded, err := gocni.New(gocni.WithPluginDir([]string{dir}), gocni.WithLoNetwork, gocni.WithConfListBytes(config(cniVersion)))
	require.NoError(t, err)
	return loaded
}

func config(cniVersion string) []byte {
	return fmt.Appendf(nil, `{"cniVersion": %q, "name": "real", "plugins": [{"type": "real"}]}`, cniVersion)
}

func asked(t *testing.T, dir string) int {
	text, err := os.ReadFile(filepath.Join(dir, "asked"))
	if os.IsNotExist(err) {
		return 0
	}
	require.NoError(t, err)
	return strings.Count(string(text), "\n")
}

func monitor(t testing.TB, source func() *gocni.ConfigResult, options Options) *Monitor {
	m := New(source, &cniexec.Exec{Sweep: true}, options)
	t.Cleanup(m.Close)
	return m
}

func TestN1_RealPlugins(t *testing.T) {
	for name, test := range map[string]struct {
		status string
		state  State
		says   string
	}{
		"ok":              {`exit 0`, OK, ""},
		"chatty":          {`echo all is fine`, OK, ""},
		"not available":   {`echo '{"code": 50, "msg": "agent is down"}'; exit 1`, NotAvailable, "agent is down"},
		"degraded":        {`echo '{"code": 51, "msg": "no route"}'; exit 1`, Degraded, "no route"},
		"later":           {`echo '{"code": 11, "msg": "starting"}'; exit 1`, TryAgain, "starting"},
		"knows no better": {`echo '{"code": 4, "msg": "unknown CNI_COMMAND: STATUS"}'; exit 1`, OtherError, "unknown CNI_COMMAND"},
		"garbage":         {`printf '\377\376 nonsense'; exit 1`, ExecFailed, "nonsense"},
		"huge":            {`exec cat /dev/zero`, ExecFailed, "larger than"},
		"hangs":           {hang, TimedOut, "no answer within 500ms"},
		"hangs below":     {hang + ` & wait`, TimedOut, "no answer within 500ms"},
		"left on pipe":    {`sh -c "` + strings.ReplaceAll(hang, "$DIR", "'$DIR'") + `" &`, OK, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := script(t, test.status)
			timeout := generous
			if test.state == TimedOut {
				timeout = 500 * time.Millisecond
			}
			m := monitor(t, load(t, dir, "1.1.0").GetConfig, Options{Timeout: timeout, FirstWait: generous})
			s := m.Status(t.Context())
			assert.Equal(t, test.state, s.State, s.String())
			assert.Contains(t, s.Message, test.says)
			assert.Less(t, s.Took, generous/2)
			assert.Equal(t, "real", s.Network)
			assert.Equal(t, test.state != OK, s.Plugin == "real", s.Plugin)
		})
	}
}

// The plugin of a chain that failed is named, and those after it are not asked.
func TestL17_PluginOfAChain(t *testing.T) {
	dir := script(t, `echo '{"code": 50, "msg": "agent is down"}'; exit 1`)
	for _, name := range []string{"first", "last"} {
		text := "#!/bin/sh\necho $CNI_COMMAND >> '" + dir + "/" + name + ".asked'\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
	}
	chain := `{"cniVersion": "1.1.0", "name": "chain", "plugins": [{"type": "first"}, {"type": "real"}, {"type": "last"}]}`
	loaded, err := gocni.New(gocni.WithPluginDir([]string{dir}), gocni.WithConfListBytes([]byte(chain)))
	require.NoError(t, err)
	s := monitor(t, loaded.GetConfig, Options{FirstWait: generous}).Status(t.Context())
	assert.Equal(t, NotAvailable, s.State, s.String())
	assert.Equal(t, "chain", s.Network)
	assert.Equal(t, "real", s.Plugin)
	assert.FileExists(t, filepath.Join(dir, "first.asked"))
	assert.NoFileExists(t, filepath.Join(dir, "last.asked"))
}

func TestN1_NoSuchPlugin(t *testing.T) {
	m := monitor(t, load(t, t.TempDir(), "1.1.0").GetConfig, Options{FirstWait: generous})
	s := m.Status(t.Context())
	assert.Equal(t, ExecFailed, s.State)
	assert.Contains(t, s.Message, `failed to find plugin "real"`)
}

func TestBelow110RunsNothing(t *testing.T) {
	dir := script(t, hang)
	m := monitor(t, load(t, dir, "1.0.0").GetConfig, Options{FirstWait: generous})
	assert.Equal(t, Unsupported, m.Status(t.Context()).State)
	assert.Zero(t, asked(t, dir))
}

// TestN1_ManyCallsDuringAHang has 200 callers of CRI Status. All return while the plugin hangs,
// which is longer than the test runs. TestManyCallsDuringAHangTakeNoTime proves that they take
// no time, by a clock that no other process moves.
func TestN1_ManyCallsDuringAHang(t *testing.T) {
	dir := script(t, hang)
	m := monitor(t, load(t, dir, "1.1.0").GetConfig, Options{Timeout: time.Hour, FirstWait: 10 * time.Millisecond})
	m.Status(t.Context())
	assert.Eventually(t, func() bool { return asked(t, dir) == 1 }, generous, time.Millisecond)

	const callers = 200
	waits := make([]time.Duration, callers)
	var all sync.WaitGroup
	for i := range waits {
		all.Go(func() { waits[i] = took(func() { assert.Equal(t, Unknown, m.Status(t.Context()).State) }) })
	}
	all.Wait()
	longest := time.Duration(0)
	for _, w := range waits {
		longest = max(longest, w)
	}
	t.Logf("longest of %d calls: %v", callers, longest)
	assert.Equal(t, 1, asked(t, dir))
}

// TestN4_HangBlocksNothing adds, deletes and reloads while STATUS hangs.
func TestN4_HangBlocksNothing(t *testing.T) {
	kept := libcni.CacheDir
	libcni.CacheDir = t.TempDir()
	defer func() { libcni.CacheDir = kept }()

	dir := script(t, hang)
	loaded := load(t, dir, "1.1.0")
	m := monitor(t, loaded.GetConfig, Options{Timeout: 10 * generous, FirstWait: time.Millisecond})
	m.Status(t.Context())
	assert.Eventually(t, func() bool { return asked(t, dir) == 1 }, generous, time.Millisecond)

	assert.Less(t, took(func() {
		_, err := loaded.Setup(t.Context(), "pod", "/run/netns/pod")
		assert.NoError(t, err)
		assert.NoError(t, loaded.Remove(t.Context(), "pod", "/run/netns/pod"))
		assert.NoError(t, loaded.Load(gocni.WithConfListBytes(config("1.0.0"))))
		assert.Equal(t, Unknown, m.Status(t.Context()).State, "it still hangs")
		m.Changed()
		assert.Equal(t, Unsupported, m.Fresh(t.Context(), generous).State)
	}), generous)
}
