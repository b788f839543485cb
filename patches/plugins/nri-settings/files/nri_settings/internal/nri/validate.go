// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"errors"
	"fmt"

	"github.com/containerd/containerd/v2/internal/tomlext"
)

// validate rejects invalid settings.
func (c *Config) validate() error {
	var errs []error
	for _, s := range []struct {
		name  string
		value tomlext.Duration
	}{
		{"plugin_registration_timeout", c.PluginRegistrationTimeout},
		{"plugin_request_timeout", c.PluginRequestTimeout},
		{"plugin_sync_timeout", c.PluginSyncTimeout},
		{"plugin_teardown_wait", c.PluginTeardownWait},
		{"plugin_overdue_limit", c.PluginOverdueLimit},
	} {
		if s.value < 0 {
			errs = append(errs, fmt.Errorf("%s is %s: must not be negative", s.name, tomlext.ToStdTime(s.value)))
		}
	}
	if c.PluginBacklogLimit < 0 {
		errs = append(errs, fmt.Errorf("plugin_backlog_limit is %d: must not be negative", c.PluginBacklogLimit))
	}
	if c.PluginBacklogBytes < 0 {
		errs = append(errs, fmt.Errorf("plugin_backlog_bytes is %d: must not be negative", c.PluginBacklogBytes))
	}
	return errors.Join(errs...)
}
