// SPDX-License-Identifier: Apache-2.0

//go:build linux

package podnet

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/errdefs"
	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/libcni"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/cri/netattach"
	"github.com/hookline-nri/hookline/internal/cri/netstatus"
)

// A node has one network of CNI 1.1.0, with a plugin that is a shell script.
type node struct {
	*testing.T
	dir string
	net *Network
}

func newNode(t *testing.T) *node {
	n := &node{T: t, dir: t.TempDir()}
	n.plugin("")
	cni, err := gocni.New(gocni.WithPluginDir([]string{n.dir}), gocni.WithPluginConfDir(n.dir))
	require.NoError(t, err)
	n.net = New(cni, Options{CacheDir: n.dir, Status: netstatus.Options{Timeout: time.Minute, Interval: time.Hour}})
	t.Cleanup(n.net.Close)
	return n
}

// plugin writes the plugin, which notes its requests and then runs the script.
func (n *node) plugin(script string) {
	text := "#!/bin/sh\nDIR='" + n.dir + "'\necho $CNI_COMMAND $CNI_CONTAINERID >> $DIR/asked\n" + script +
		// An ADD into no namespace fails.
		"\ntest \"$CNI_COMMAND $CNI_NETNS\" = 'ADD /nowhere' && { " + down + "; }" +
		"\necho '{\"cniVersion\": \"1.0.0\", \"ips\": [{\"address\": \"10.1.2.3/24\"}]}'\n"
	path := filepath.Join(n.dir, "plugin")
	require.NoError(n, os.WriteFile(path+".new", []byte(text), 0o755))
	require.NoError(n, os.Rename(path+".new", path))
}

func (n *node) load() { require.NoError(n, n.net.Load(conf)) }

const blue = `{"cniVersion": "1.1.0", "name": "blue", "plugins": [{"type": "plugin"}]}`

var (
	conf    = gocni.WithConfListBytes([]byte(blue))
	another = gocni.WithConfListBytes([]byte(`{"cniVersion": "1.1.0", "name": "green", "plugins": [{"type": "plugin"}]}`))
)

// attach attaches a pod past the network, as an earlier run of the runtime did.
func (n *node) attach(id string) {
	list, err := libcni.NetworkConfFromBytes([]byte(blue))
	require.NoError(n, err)
	_, err = libcni.NewCNIConfigWithCacheDir([]string{n.dir}, n.dir, nil).
		AddNetworkList(n.Context(), list, &libcni.RuntimeConf{ContainerID: id, NetNS: "/run/netns/" + id, IfName: "eth0"})
	require.NoError(n, err)
}

func (n *node) asked() string {
	text, err := os.ReadFile(filepath.Join(n.dir, "asked"))
	if !os.IsNotExist(err) {
		require.NoError(n, err)
	}
	return string(text)
}

const down = `echo '{"code": 50, "msg": "agent is down"}'; exit 1`

// hang is a script that takes until the test has written to $DIR/go.
const hang = `mkfifo $DIR/go; read line < $DIR/go`

// release lets one plugin that hangs go on.
func (n *node) release() {
	n.Helper()
	require.Eventually(n, func() bool {
		gate, err := os.OpenFile(filepath.Join(n.dir, "go"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return false
		}
		_, err = gate.WriteString("\n")
		return err == nil && gate.Close() == nil
	}, time.Minute, time.Millisecond)
}

func TestNothingLoaded(t *testing.T) {
	n := newNode(t)
	assert.ErrorIs(t, n.net.Status(), gocni.ErrCNINotInitialized)
	err := n.net.TakesPods(t.Context())
	assert.ErrorIs(t, err, errdefs.ErrUnavailable)
	assert.ErrorContains(t, err, "cni plugin not initialized")
}

func TestN2_TakesPods(t *testing.T) {
	n := newNode(t)
	n.load()
	assert.NoError(t, n.net.TakesPods(t.Context()))

	n.plugin(down)
	require.NoError(t, n.net.Load(another))
	require.Eventually(t, func() bool { return !n.net.status.Outdated() }, time.Minute, time.Millisecond)
	err := n.net.TakesPods(t.Context())
	assert.ErrorIs(t, err, errdefs.ErrUnavailable)
	assert.ErrorContains(t, err, "agent is down")
	assert.ErrorIs(t, n.net.Status(), errdefs.ErrUnavailable)

	n.plugin("")
	assert.NoError(t, n.net.TakesPods(t.Context()), "it is asked once more")
}

// The former network took pods. The one that is loaded now does not answer.
func TestN2_StatusOfAnotherNetwork(t *testing.T) {
	n := newNode(t)
	n.load()
	require.NoError(t, n.net.TakesPods(t.Context()))
	n.plugin(`test $CNI_COMMAND = STATUS && { ` + hang + `; }`)
	require.NoError(t, n.net.Load(another))
	err := n.net.TakesPods(t.Context())
	assert.ErrorIs(t, err, errdefs.ErrUnavailable)
	assert.ErrorContains(t, err, "has not answered STATUS yet")
}

// A configuration that is loaded once more is the same network.
func TestLoadedAgainIsNotAskedAgain(t *testing.T) {
	n := newNode(t)
	n.load()
	require.NoError(t, n.net.TakesPods(t.Context()))
	n.load()
	assert.NoError(t, n.net.TakesPods(t.Context()))
	assert.Equal(t, "STATUS\n", n.asked())
}

// A network replaces another one during a failing ADD, which takes long. A second ADD then fails with
// the new one. Each DEL uses the configuration of its ADD.
func TestN3_FailedADDAndAReload(t *testing.T) {
	n := newNode(t)
	text, err := os.ReadFile(filepath.Join(n.dir, "plugin"))
	require.NoError(t, err)
	other := strings.Replace(string(text), "echo $CNI_COMMAND", "echo red $CNI_COMMAND", 1)
	require.NoError(t, os.WriteFile(filepath.Join(n.dir, "other"), []byte(other), 0o755))
	n.plugin(`test "$CNI_COMMAND" = ADD && { ` + hang + `; }`)
	n.load()
	detach := func(id string) {
		result, err := n.net.Detach(t.Context(), netattach.Pod{ID: id, NetNS: "/nowhere"})
		assert.NoError(t, err)
		assert.Empty(t, result.Abandoned)
	}

	var busy sync.WaitGroup
	busy.Go(func() {
		_, err := n.net.Attach(t.Context(), netattach.Pod{ID: "early", NetNS: "/nowhere"}, false)
		assert.ErrorContains(t, err, "agent is down")
	})
	require.Eventually(t, func() bool { return strings.Contains(n.asked(), "ADD early") }, time.Minute, time.Millisecond)
	require.NoError(t, n.net.Load(gocni.WithConfListBytes([]byte(`{"cniVersion": "1.1.0", "name": "red", "plugins": [{"type": "other"}]}`))))
	_, err = n.net.Attach(t.Context(), netattach.Pod{ID: "late", NetNS: "/nowhere"}, false)
	assert.ErrorContains(t, err, "agent is down")
	n.release()
	busy.Wait()
	detach("early")
	detach("late")
	assert.Regexp(t, `(?s)ADD early.*\nred ADD late.*\nDEL early.*\nred DEL late`, n.asked())
	assert.Empty(t, n.net.tried)
}

// The configuration of an ADD that failed is not used for the cached attachment of another.
func TestMigrationAfterAFailedADD(t *testing.T) {
	n := newNode(t)
	n.load()
	n.attach("web")
	_, err := n.net.Attach(t.Context(), netattach.Pod{ID: "web", NetNS: "/nowhere"}, false) // on another of its networks
	require.Error(t, err)
	pod := netattach.Pod{ID: "web", NetNS: "/nowhere"}
	n.plugin(down)
	_, err = n.net.Detach(t.Context(), pod)
	require.ErrorIs(t, err, netattach.ErrAttached)

	require.NoError(t, os.Rename(filepath.Join(n.dir, "plugin"), filepath.Join(n.dir, "other")))
	require.NoError(t, n.net.Load(gocni.WithConfListBytes([]byte(`{"cniVersion": "1.1.0", "name": "red", "plugins": [{"type": "other"}]}`))))
	_, err = n.net.Detach(t.Context(), pod)
	require.ErrorIs(t, err, netattach.ErrAttached)
	pod.Overdue = true
	result, err := n.net.Detach(t.Context(), pod)
	assert.NoError(t, err)
	assert.Len(t, result.Abandoned, 1)
}

// The plugins of a network that was replaced never succeed: the pod can be removed
// all the same.
func TestPodIsOverdue(t *testing.T) {
	n := newNode(t)
	n.load()
	n.attach("web")
	n.plugin(down)
	pod := netattach.Pod{ID: "web", NetNS: "/nowhere", Attached: true, Overdue: true}
	_, err := n.net.Detach(t.Context(), pod)
	require.ErrorIs(t, err, netattach.ErrAttached, "it is the network that is loaded")
	require.NoError(t, n.net.Load(another))
	result, err := n.net.Detach(t.Context(), pod)
	assert.NoError(t, err)
	assert.Len(t, result.Abandoned, 1)
}

func TestAddThatFailsAsks(t *testing.T) {
	n := newNode(t)
	n.load()
	require.NoError(t, n.net.TakesPods(t.Context()))
	n.plugin(down)
	_, err := n.net.Attach(t.Context(), netattach.Pod{ID: "web", NetNS: "/nowhere"}, false)
	assert.ErrorContains(t, err, "agent is down")
	assert.Eventually(t, func() bool { return n.net.Status() != nil }, time.Minute, 5*time.Millisecond)
}

// STATUS hangs; ADD, reload and DEL do not (N4).
func TestN4_HungStatusBlocksNothing(t *testing.T) {
	n := newNode(t)
	n.plugin(`test $CNI_COMMAND = STATUS && { ` + hang + `; }`)
	n.load()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	n.attach("web")
	_, _ = n.net.Attach(ctx, netattach.Pod{ID: "other", NetNS: "/nowhere"}, false)
	require.NoError(t, ctx.Err(), n.asked())
	require.NoError(t, n.net.Load(conf))
	result, err := n.net.Detach(ctx, netattach.Pod{ID: "web"})
	require.NoError(t, err)
	assert.Equal(t, netattach.Result{Cached: 1}, result)
	assert.NoError(t, n.net.Status(), "no answer says that it takes no pods")
}

// An ADD that hangs blocks no reload, DEL or query.
func TestN3_HungADDBlocksNoDEL(t *testing.T) {
	n := newNode(t)
	n.load()
	n.attach("web")
	n.plugin(`test "$CNI_COMMAND" = ADD && { ` + hang + `; }`)

	var busy sync.WaitGroup
	busy.Go(func() { _, _ = n.net.Attach(t.Context(), netattach.Pod{ID: "hangs", NetNS: "/nowhere"}, false) })
	require.Eventually(t, func() bool { return strings.Contains(n.asked(), "ADD hangs") }, time.Minute, time.Millisecond)
	require.NoError(t, n.net.Load(conf))

	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := n.net.Detach(ctx, netattach.Pod{ID: "web"})
	assert.NoError(t, err)
	assert.NoError(t, n.net.Status())
	assert.Len(t, n.net.GetConfig().Networks, 1)
	n.release()
	busy.Wait()
}

// An ADD whose caller cancels returns when the processes that it started have ended: otherwise
// they would allocate after the DEL.
func TestL7_CutADDLeavesNoOrphan(t *testing.T) {
	n := newNode(t)
	n.plugin(`test "$CNI_COMMAND" = ADD && {
mkfifo $DIR/silent
sh -c 'echo $$ > '$DIR'/left; read line < '$DIR'/silent' > /dev/null 2>&1 &
wait; }`)
	n.load()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	left := filepath.Join(n.dir, "left")
	var busy sync.WaitGroup
	busy.Go(func() {
		defer cancel()
		assert.Eventually(t, func() bool {
			text, err := os.ReadFile(left)
			return err == nil && strings.HasSuffix(string(text), "\n")
		}, time.Minute, time.Millisecond)
	})
	_, err := n.net.Attach(ctx, netattach.Pod{ID: "web", NetNS: "/nowhere"}, false)
	assert.ErrorIs(t, err, context.Canceled)
	busy.Wait()
	pid, err := os.ReadFile(left)
	require.NoError(t, err)
	stat, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "stat"))
	assert.True(t, err != nil || strings.Contains(string(stat), ") Z "), "%s", stat)
}

// A process that a plugin leaves after a successful ADD goes on, such as a DHCP client that
// renews the lease of the pod.
func TestADDThatSucceededKeepsItsDaemon(t *testing.T) {
	n := newNode(t)
	n.plugin(`test "$CNI_COMMAND" = ADD && {
mkfifo $DIR/go; sh -c 'read line < '$DIR'/go; echo renewed >> '$DIR'/asked' > /dev/null 2>&1 & }`)
	n.load()
	result, err := n.net.Attach(t.Context(), netattach.Pod{ID: "web", NetNS: "/run/netns/web"}, true)
	require.NoError(t, err)
	require.Len(t, result.Interfaces["eth0"].IPConfigs, 1)
	assert.Equal(t, "10.1.2.3", result.Interfaces["eth0"].IPConfigs[0].IP.String())
	assert.Len(t, result.Raw(), 1)
	n.release()
	assert.Eventually(t, func() bool { return strings.Contains(n.asked(), "renewed") }, time.Minute, time.Millisecond)
}

func TestLoadThatFailsLeavesNothingLoaded(t *testing.T) {
	n := newNode(t)
	n.load()
	assert.ErrorContains(t, n.net.Load(gocni.WithConfListBytes([]byte("{"))), "load failed")
	assert.Empty(t, n.net.GetConfig().Networks)
	assert.ErrorIs(t, n.net.Status(), gocni.ErrCNINotInitialized)
}
