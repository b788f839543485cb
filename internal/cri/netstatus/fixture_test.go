// SPDX-License-Identifier: Apache-2.0

package netstatus

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	gocni "github.com/containerd/go-cni"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"
	"github.com/stretchr/testify/assert"
)

// A plugin answers the STATUS of a network, in a bubble and without a process.
type plugin func(ctx context.Context) error

func says(err error) plugin { return func(context.Context) error { return err } }

func hangs(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("plugin was killed: %w", ctx.Err())
}

func takes(d time.Duration, err error) plugin {
	return func(ctx context.Context) error {
		select {
		case <-time.After(d):
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// A node has networks with a plugin each. It is the exec, the source and the
// observer of a Monitor.
type node struct {
	version.PluginDecoder
	t     *testing.T
	began time.Time

	mu       sync.Mutex
	config   *gocni.ConfigResult
	plugins  map[string]plugin
	asking   map[string]bool
	asked    map[string][]time.Duration // when, since the node began
	received []Status
	moves    []string
	reload   chan struct{} // if set, the configuration is locked until it is closed
}

// at starts a node in a bubble, with a network for each plugin, and runs test.
func at(t *testing.T, plugins map[string]plugin, options Options, test func(*testing.T, *node, *Monitor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &node{t: t, began: time.Now(), plugins: plugins, asking: map[string]bool{}, asked: map[string][]time.Duration{}}
		var names []string
		for name := range plugins {
			names = append(names, name)
		}
		slices.Sort(names)
		n.configure("1.1.0", names...)
		options.Observer = n
		options.Interval = 10 * time.Second
		m := New(n.GetConfig, n, options)
		defer m.Close()
		test(t, n, m)
	})
}

// configure loads networks of a CNI version, and the loopback. Not through
// go-cni, whose locks watch for deadlocks from outside the bubble.
func (n *node) configure(cniVersion string, names ...string) {
	config := &gocni.ConfigResult{PluginDirs: []string{"/opt/cni/bin"}}
	add := func(cniVersion, name, ifName string) {
		config.Networks = append(config.Networks, &gocni.ConfNetwork{IFName: ifName, Config: &gocni.NetworkConfList{
			Name:       name,
			CNIVersion: cniVersion,
			Plugins: []*gocni.NetworkConf{{
				Network: &types.PluginConf{Type: name},
				Source:  fmt.Sprintf(`{"type": %q}`, name),
			}},
		}})
	}
	add("1.1.0", "loopback", "lo")
	for i, name := range names {
		add(cniVersion, name, fmt.Sprintf("eth%d", i))
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.config = config
}

func (n *node) GetConfig() *gocni.ConfigResult {
	n.mu.Lock()
	config, reload := n.config, n.reload
	n.mu.Unlock()
	if reload != nil {
		<-reload
	}
	return config
}

func (n *node) set(name string, p plugin) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.plugins[name] = p
}

func (n *node) FindInPath(name string, _ []string) (string, error) { return name, nil }

func (n *node) ExecPlugin(ctx context.Context, _ string, stdin []byte, environ []string) ([]byte, error) {
	var config struct{ Name, CNIVersion, Type string }
	assert.NoError(n.t, json.Unmarshal(stdin, &config))
	assert.Equal(n.t, "1.1.0", config.CNIVersion)
	assert.True(n.t, slices.Contains(environ, "CNI_COMMAND=STATUS"), strings.Join(environ, " "))

	n.mu.Lock()
	assert.False(n.t, n.asking[config.Name], "%s is asked twice at a time", config.Name)
	n.asking[config.Name] = true
	n.asked[config.Name] = append(n.asked[config.Name], time.Since(n.began))
	answer := n.plugins[config.Name]
	n.mu.Unlock()
	defer func() {
		n.mu.Lock()
		n.asking[config.Name] = false
		n.mu.Unlock()
	}()
	return nil, answer(ctx)
}

// busy reports whether the network is being asked.
func (n *node) busy(name string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asking[name]
}

// answers returns the answers that the observer received.
func (n *node) answers() []Status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.received)
}

func (n *node) Answered(s Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.received = append(n.received, s)
}

func (n *node) Moved(before, now Status) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.moves = append(n.moves, before.State.String()+" "+now.State.String()+" "+now.Plugin)
}

// transitions returns the moves that the observer received.
func (n *node) transitions() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.moves)
}

// times returns when the network was asked.
func (n *node) times(name string) []time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.asked[name])
}

// pass lets time of the bubble pass, and waits until the bubble is idle.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

// took runs f and returns how long it took.
func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}
