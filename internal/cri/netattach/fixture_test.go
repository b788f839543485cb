// SPDX-License-Identifier: Apache-2.0

//go:build linux

package netattach

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containernetworking/cni/libcni"
	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/internal/cri/cniexec"
)

const (
	pod   = "1f2e3d"
	netns = "/run/netns/pod"
)

// A node has plugins that note each request they get, and libcni's cache.
type node struct {
	t     *testing.T
	dir   string // plugins, and their notes
	cache string
	cni   *libcni.CNIConfig
	clock time.Time // of the last attachment
	stuck string    // the plugin that hangs once it has noted its request
}

func newNode(t *testing.T, plugins ...string) *node {
	n := &node{t: t, dir: t.TempDir(), cache: t.TempDir(), clock: time.Unix(1e9, 0)}
	n.cni = libcni.NewCNIConfigWithCacheDir([]string{n.dir}, n.cache, &cniexec.Exec{})
	for _, name := range plugins {
		n.plugin(name, "")
	}
	return n
}

// plugin writes a plugin whose DEL ends with the script.
func (n *node) plugin(name, del string) {
	script := strings.Join([]string{
		"#!/bin/sh",
		`DIR='` + n.dir + `'; NAME='` + name + `'`,
		`stdin=$(cat)`,
		`case $CNI_COMMAND in`,
		`ADD) echo '{"cniVersion": "1.0.0", "ips": [{"address": "10.1.2.3/24"}]}'; exit ;;`,
		`esac`,
		`printf '{"command":"%s","plugin":"%s","container":"%s","netns":"%s","interface":"%s","args":"%s","stdin":%s}\n' ` +
			`"$CNI_COMMAND" "$NAME" "$CNI_CONTAINERID" "$CNI_NETNS" "$CNI_IFNAME" "$CNI_ARGS" "$stdin" >> $DIR/requests`,
		del, ""}, "\n")
	require.NoError(n.t, os.WriteFile(filepath.Join(n.dir, name), []byte(script), 0o755))
}

// attach runs an ADD, as go-cni does.
func (n *node) attach(config, id, ifName string) {
	n.t.Helper()
	list, err := libcni.NetworkConfFromBytes([]byte(config))
	require.NoError(n.t, err)
	_, err = n.cni.AddNetworkList(n.t.Context(), list, &libcni.RuntimeConf{
		ContainerID:    id,
		NetNS:          netns,
		IfName:         ifName,
		Args:           [][2]string{{"IgnoreUnknown", "1"}, {"K8S_POD_NAME", "web"}},
		CapabilityArgs: map[string]any{"portMappings": []map[string]any{{"hostPort": 8080}}, "other": 1},
	})
	require.NoError(n.t, err)
	n.made(list.Name, id, ifName)
}

// made gives the attachment a time after all others.
func (n *node) made(network, id, ifName string) {
	n.t.Helper()
	n.clock = n.clock.Add(time.Millisecond)
	require.NoError(n.t, os.Chtimes(n.file(network, id, ifName), n.clock, n.clock))
}

func (n *node) file(network, id, ifName string) string {
	return filepath.Join(n.cache, "results", network+"-"+id+"-"+ifName)
}

func (n *node) cached() *Cache { return New([]string{n.dir}, n.cache, sticking{&cniexec.Exec{}, n}) }

// sticking runs the plugins of a node, and lets one of them hang. In a bubble of testing/synctest
// time stands still while a plugin runs, and passes while one hangs.
type sticking struct {
	invoke.Exec
	node *node
}

func (s sticking) ExecPlugin(ctx context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	out, err := s.Exec.ExecPlugin(ctx, path, stdin, environ)
	if filepath.Base(path) != s.node.stuck {
		return out, err
	}
	<-ctx.Done()
	return nil, fmt.Errorf("plugin %s was killed: %w", path, ctx.Err())
}

// A request is one that a plugin got.
type request struct {
	Command, Plugin, Container, Netns, Interface, Args string
	Stdin                                              struct {
		Name, CNIVersion, Type, Note string
		PrevResult                   struct{ IPs []struct{ Address string } }
		RuntimeConfig                map[string]any
		Attachments                  []attachment `json:"cni.dev/valid-attachments"`
	}
}

type attachment struct {
	ContainerID string `json:"containerID"`
	IfName      string `json:"ifname"`
}

func (n *node) requests() (all []request) {
	n.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "requests"))
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(n.t, err)
	for line := range strings.Lines(string(text)) {
		var r request
		require.NoError(n.t, json.Unmarshal([]byte(line), &r), line)
		all = append(all, r)
	}
	return all
}

// asked returns which plugins were asked for which interfaces.
func (n *node) asked() (all []string) {
	n.t.Helper()
	for _, r := range n.requests() {
		all = append(all, r.Plugin+" "+r.Interface)
	}
	return all
}

// nothingKept checks that nothing is left of any attachment.
func (n *node) nothingKept() {
	n.t.Helper()
	files, err := os.ReadDir(filepath.Join(n.cache, "results"))
	if !os.IsNotExist(err) {
		require.NoError(n.t, err)
	}
	assert.Empty(n.t, files)
}
