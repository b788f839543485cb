// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"time"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// Timeouts are the same for all plugins.
func (c connection) Timeouts() lifecycle.Timeouts { return lifecycle.Timeouts{} }

// Awaited implements lifecycle.Observer. No plugin is required.
func (o observer) Awaited(lifecycle.Event, string, time.Duration) {}

// Rejected implements lifecycle.Observer.
func (o observer) Rejected(*lifecycle.Unmet) {}
