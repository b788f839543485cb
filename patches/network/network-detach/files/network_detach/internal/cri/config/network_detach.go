// SPDX-License-Identifier: Apache-2.0

package config

import "time"

const (
	// DefaultNetworkDelPatience is how long a DEL that may never succeed is retried.
	DefaultNetworkDelPatience = 5 * time.Minute

	longestNetworkDelPatience = 7 * 24 * time.Hour
)

// NetworkDelTime returns how long a DEL that may never succeed is retried. An empty setting
// stands for its default.
func (c *CniConfig) NetworkDelTime() (time.Duration, error) {
	return networkTime("del_patience", c.NetworkDelPatience, DefaultNetworkDelPatience, longestNetworkDelPatience)
}
