// SPDX-License-Identifier: Apache-2.0

package config

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestNetworkDelTime(t *testing.T) {
	for name, tc := range map[string]struct {
		config CniConfig
		is     time.Duration
		fails  string
	}{
		"default":  {config: DefaultRuntimeConfig().CniConfig, is: 5 * time.Minute},
		"empty":    {is: 5 * time.Minute},
		"set":      {config: CniConfig{NetworkDelPatience: "24h"}, is: 24 * time.Hour},
		"none":     {config: CniConfig{NetworkDelPatience: "0s"}, fails: "invalid `del_patience`: 0s is not between 10ms and 168h0m0s"},
		"for ever": {config: CniConfig{NetworkDelPatience: "1000h"}, fails: "invalid `del_patience`"},
	} {
		t.Run(name, func(t *testing.T) {
			patience, err := tc.config.NetworkDelTime()
			if tc.fails != "" {
				assert.ErrorContains(t, err, tc.fails)
				runtime := DefaultRuntimeConfig()
				runtime.CniConfig = tc.config
				_, err := ValidateRuntimeConfig(t.Context(), &runtime)
				assert.ErrorContains(t, err, tc.fails)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tc.is, patience)
		})
	}
}
