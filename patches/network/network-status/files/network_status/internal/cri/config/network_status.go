// SPDX-License-Identifier: Apache-2.0

package config

import (
	"errors"
	"fmt"
	"time"
)

const (
	// DefaultNetworkStatusInterval is the age of an answer from which on STATUS is run again.
	DefaultNetworkStatusInterval = 5 * time.Second
	// DefaultNetworkStatusTimeout is how long a network has to answer STATUS. A plugin may wait for
	// its agent to restart. A kubelet waits as long before it takes a silent runtime for down.
	DefaultNetworkStatusTimeout = 30 * time.Second

	longestNetworkStatus = time.Hour
	shortestNetworkTime  = 10 * time.Millisecond
)

// NetworkStatusTimes returns the interval and the timeout of STATUS. An empty setting stands for
// its default.
func (c *CniConfig) NetworkStatusTimes() (interval, timeout time.Duration, err error) {
	interval, intervalErr := networkTime("status_interval", c.NetworkStatusInterval, DefaultNetworkStatusInterval, longestNetworkStatus)
	timeout, timeoutErr := networkTime("status_timeout", c.NetworkStatusTimeout, DefaultNetworkStatusTimeout, longestNetworkStatus)
	return interval, timeout, errors.Join(intervalErr, timeoutErr)
}

// networkTime reads a setting that is a duration.
func networkTime(name, text string, standard, longest time.Duration) (time.Duration, error) {
	if text == "" {
		return standard, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("invalid `%s`: %w", name, err)
	}
	if d < shortestNetworkTime || d > longest {
		return 0, fmt.Errorf("invalid `%s`: %s is not between %s and %s", name, d, shortestNetworkTime, longest)
	}
	return d, nil
}
