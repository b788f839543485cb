// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"fmt"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hookline-nri/hookline/integration/node"
	"github.com/hookline-nri/hookline/integration/plugin"
)

// refusesWith refuses with an error of the plugin's own choice.
func refusesWith(err error) plugin.Reply {
	return func(context.Context, *plugin.Call) error { return err }
}

// requireReadable checks what a kubelet reads of an error: its code, and who said what.
func requireReadable(t require.TestingT, err error, code codes.Code, words ...string) {
	require.Error(t, err)
	s, ok := status.FromError(err)
	require.True(t, ok, "%v has no status", err)
	assert.Equal(t, code, s.Code(), "code of %v", err)
	for _, word := range words {
		assert.Contains(t, s.Message(), word)
	}
	assert.Equal(t, 1, strings.Count(err.Error(), "rpc error"), "one code in %v", err)
}

// hasLogged tells whether one line of the runtime's log has all the words.
func hasLogged(n *node.Node, words ...string) error {
	log, err := n.Log()
	if err != nil {
		return err
	}
next:
	for line := range strings.Lines(log) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		return nil
	}
	return fmt.Errorf("no line with %q", words)
}
