// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLoopbackNeedsNoPlugin(t *testing.T) {
	assert.True(t, DefaultRuntimeConfig().UseInternalLoopback)
}
