// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestNetworkStatusTimes(t *testing.T) {
	standard := DefaultRuntimeConfig().CniConfig
	assert.True(t, standard.NetworkStatusGate)
	for name, tc := range map[string]struct {
		config            CniConfig
		interval, timeout time.Duration
		fails             string
	}{
		"default":  {config: standard, interval: 5 * time.Second, timeout: 30 * time.Second},
		"empty":    {interval: 5 * time.Second, timeout: 30 * time.Second},
		"set":      {config: CniConfig{NetworkStatusInterval: "1m", NetworkStatusTimeout: "200ms"}, interval: time.Minute, timeout: 200 * time.Millisecond},
		"no unit":  {config: CniConfig{NetworkStatusInterval: "5"}, fails: "invalid `status_interval`"},
		"none":     {config: CniConfig{NetworkStatusTimeout: "0s"}, fails: "invalid `status_timeout`: 0s is not between 10ms and 1h0m0s"},
		"negative": {config: CniConfig{NetworkStatusTimeout: "-1s"}, fails: "invalid `status_timeout`"},
		"for ever": {config: CniConfig{NetworkStatusInterval: "1000h"}, fails: "invalid `status_interval`"},
	} {
		t.Run(name, func(t *testing.T) {
			interval, timeout, err := tc.config.NetworkStatusTimes()
			if tc.fails != "" {
				assert.ErrorContains(t, err, tc.fails)
				runtime := DefaultRuntimeConfig()
				runtime.CniConfig = tc.config
				_, err := ValidateRuntimeConfig(t.Context(), &runtime)
				assert.ErrorContains(t, err, tc.fails)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tc.interval, interval)
			assert.Equal(t, tc.timeout, timeout)
		})
	}
}
