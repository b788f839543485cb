// SPDX-License-Identifier: Apache-2.0

package node

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStepsEndByThemselves(t *testing.T) {
	for line, step := range map[string]bool{
		"":                             false,
		"/pause":                       false,
		"/tools/runc init":             false,
		"runc init":                    false,
		"/tools/runc --root /r create": true,
		"/bin/sh /n/bin/runc start":    true,
		"/bin/sh /n/cni/bin/ptp":       true,
		"/tools/host-local":            true,
		"/bin/" + shim + " -namespace k8s.io -id x -address a":       false,
		"/n/bin/" + shim + " -namespace k8s.io -id x start":          true,
		"/bin/sh /n/bin/" + shim + " -namespace k8s.io -id x delete": true,
	} {
		require.Equal(t, step, isStep(strings.Fields(line)), line)
	}
}
