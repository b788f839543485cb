// SPDX-License-Identifier: Apache-2.0

package server

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/containerd/containerd/v2/internal/cri/netattach"
	sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"
	"github.com/containerd/containerd/v2/pkg/netns"
)

func TestDelThatLeftNothingIsNoted(t *testing.T) {
	failed := []error{errors.New("agent is down")}
	for name, test := range map[string]struct {
		del   netattach.Result
		noted bool
	}{
		"all that was cached":          {netattach.Result{Cached: 2}, true},
		"of a network that was loaded": {netattach.Result{Loaded: 1}, false},
		"abandoned":                    {netattach.Result{Cached: 1, Abandoned: failed}, false},
		"ignored":                      {netattach.Result{Cached: 1, Ignored: failed}, false},
		"a cache that cannot be read":  {netattach.Result{Cached: 1, Unreadable: []string{"/file"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{})
			noteDel(&sandbox, test.del)
			assert.Equal(t, test.noted, sandbox.Status.Get().Detached)
		})
	}
}

// While its namespace is there, a sandbox may be attached by others.
func TestSandboxIsDetachedWhenItsNamespaceIsGone(t *testing.T) {
	folder := t.TempDir()
	sandbox := sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{Detached: true})
	sandbox.NetNS = netns.LoadNetNS("/proc/self/ns/net")
	assert.False(t, detached(&sandbox))
	sandbox.NetNS = netns.LoadNetNS(filepath.Join(folder, "gone"))
	assert.True(t, detached(&sandbox))

	sandbox = sandboxstore.NewSandbox(sandboxstore.Metadata{ID: "pod"}, sandboxstore.Status{})
	sandbox.NetNS = netns.LoadNetNS(filepath.Join(folder, "gone"))
	assert.False(t, detached(&sandbox), "no DEL was noted")
}
