// SPDX-License-Identifier: Apache-2.0

package netattach

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"
)

// tolerant treats a DEL as done if the plugin failed because there is nothing to
// delete, as go-cni does. Plugins should not fail then: see
// https://github.com/containernetworking/plugins/issues/210. It does so for each
// plugin, so that the rest of the chain gets its DEL.
type tolerant struct{ invoke.Exec }

func (e tolerant) ExecPlugin(ctx context.Context, path string, stdin []byte, environ []string) ([]byte, error) {
	out, err := e.Exec.ExecPlugin(ctx, path, stdin, environ)
	if err != nil && variable(environ, "CNI_COMMAND") == "DEL" && absent(err, variable(environ, "CNI_NETNS")) {
		return nil, nil
	}
	return out, err
}

// absent reports whether a plugin failed a DEL because there is nothing to delete.
func absent(err error, netns string) bool {
	if _, answered := errors.AsType[*types.Error](err); !answered {
		return false
	}
	return strings.Contains(err.Error(), "not found") ||
		netns == "" && strings.Contains(err.Error(), "no such file or directory")
}

// variable returns the value that a process with this environment sees.
func variable(environ []string, name string) string {
	for _, v := range slices.Backward(environ) {
		if value, ok := strings.CutPrefix(v, name+"="); ok {
			return value
		}
	}
	return ""
}
