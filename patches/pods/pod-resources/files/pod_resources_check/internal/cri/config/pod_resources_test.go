// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestPodResourcesCheck(t *testing.T) {
	standard := DefaultRuntimeConfig()
	assert.Equal(t, PodResourcesCheckWarn, standard.PodResourcesCheck)
	for value, valid := range map[string]bool{"": true, "off": true, "warn": true, "enforce": true, "Warn": false, "yes": false} {
		c := DefaultRuntimeConfig()
		c.PodResourcesCheck = value
		_, err := ValidateRuntimeConfig(t.Context(), &c)
		if valid {
			assert.NoError(t, err, value)
		} else {
			assert.ErrorContains(t, err, "invalid `pod_resources_check`", value)
		}
	}
}
