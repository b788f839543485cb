// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"time"
)

const (
	// DefaultNetworkStatusInterval is the age from which on STATUS is run again.
	DefaultNetworkStatusInterval = 5 * time.Second
	// DefaultNetworkStatusTimeout is how long a network has to answer STATUS.
	DefaultNetworkStatusTimeout = 5 * time.Second

	shortestNetworkStatus = 10 * time.Millisecond
	longestNetworkStatus  = time.Hour
)

// NetworkStatusTimes returns the interval and the timeout of STATUS. A setting
// that is empty stands for its default.
func (c *CniConfig) NetworkStatusTimes() (interval, timeout time.Duration, err error) {
	interval, intervalErr := networkStatusTime("status_interval", c.NetworkStatusInterval, DefaultNetworkStatusInterval)
	timeout, timeoutErr := networkStatusTime("status_timeout", c.NetworkStatusTimeout, DefaultNetworkStatusTimeout)
	return interval, timeout, errors.Join(intervalErr, timeoutErr)
}

func networkStatusTime(name, text string, standard time.Duration) (time.Duration, error) {
	if text == "" {
		return standard, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("invalid `%s`: %w", name, err)
	}
	if d < shortestNetworkStatus || d > longestNetworkStatus {
		return 0, fmt.Errorf("invalid `%s`: %s is not between %s and %s", name, d, shortestNetworkStatus, longestNetworkStatus)
	}
	return d, nil
}
