// SPDX-License-Identifier: Apache-2.0

package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	. "github.com/hookline-nri/hookline/conformance/fixture"
	"github.com/hookline-nri/hookline/testkit/node"
	"github.com/hookline-nri/hookline/testkit/proc"
)

// SandboxShim builds integration/sandboxshim, once, and returns its folder.
var SandboxShim = sync.OnceValues(func() (string, error) {
	folder := filepath.Join(filepath.Dir(Pause), "sandboxer")
	cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(folder, "containerd-shim-runc-v2"), "../sandboxshim")
	// As for the pause program: a race or coverage build must not carry over.
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sandboxshim: %w: %s", err, out)
	}
	return folder, nil
})

// StartSandboxer runs a node whose pods' sandboxes are made by their shim.
func StartSandboxer(t *testing.T, change ...func(*node.Options)) *node.Node {
	t.Helper()
	folder, err := SandboxShim()
	require.NoError(t, err)
	return StartNode(t, func(o *node.Options) {
		require.NoError(t, o.SandboxesByShim(folder))
		o.RequestTimeout = 30 * time.Second
		for _, f := range change {
			f(o)
		}
	})
}

// RequireNoSandboxLeft is requireNothingLeft, and looks for the bundles of such sandboxes too.
func RequireNoSandboxLeft(t require.TestingT, n *node.Node) {
	RequireNothingLeft(t, n)
	RequireSoon(t, "the removal of bundles", func(context.Context) error {
		bundles, err := filepath.Glob(filepath.Join(n.Folder(), "*", "io.containerd.sandbox.controller.v1.shim", "*", "*"))
		if err == nil && len(bundles) > 0 {
			err = fmt.Errorf("left: %q", bundles)
		}
		return err
	})
}

// PodState is what CRI says of a pod.
func PodState(t *testing.T, n *node.Node, pod string) runtime.PodSandboxState {
	t.Helper()
	r, err := n.CRI().Runtime.PodSandboxStatus(WithinAMinute(t), &runtime.PodSandboxStatusRequest{PodSandboxId: pod})
	require.NoError(t, err)
	return r.GetStatus().GetState()
}

// ShimsConfig is the configuration of a pod that its shim got with CreateSandbox,
// and keeps.
func ShimsConfig(t require.TestingT, n *node.Node, pod string) *runtime.PodSandboxConfig {
	found, err := filepath.Glob(filepath.Join(n.Folder(), "*", "*", "*", pod, "options"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	kept, err := os.ReadFile(found[0])
	require.NoError(t, err)
	config := &runtime.PodSandboxConfig{}
	require.NoError(t, proto.Unmarshal(kept, config))
	return config
}

// ParentProcess is the process that a process was started by.
func ParentProcess(t *testing.T, pid int) int {
	t.Helper()
	text, err := proc.Status(pid, "PPid:")
	require.NoError(t, err)
	ppid, err := strconv.Atoi(text)
	require.NoError(t, err)
	return ppid
}
