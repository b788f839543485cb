// SPDX-License-Identifier: Apache-2.0

package config

import "fmt"

// The actions for a container that differs from its announced resources.
const (
	PodResourcesCheckOff     = "off"     // it is not compared
	PodResourcesCheckWarn    = "warn"    // it is admitted, and the difference is logged
	PodResourcesCheckEnforce = "enforce" // it is rejected
)

// validatePodResourcesCheck rejects all other values. Empty stands for warn.
func (c *RuntimeConfig) validatePodResourcesCheck() error {
	switch c.PodResourcesCheck {
	case "", PodResourcesCheckOff, PodResourcesCheckWarn, PodResourcesCheckEnforce:
		return nil
	}
	return fmt.Errorf("invalid `pod_resources_check`: %q is none of %q, %q and %q",
		c.PodResourcesCheck, PodResourcesCheckOff, PodResourcesCheckWarn, PodResourcesCheckEnforce)
}
