// SPDX-License-Identifier: Apache-2.0

package sandboxes

import (
	"testing"

	"github.com/hookline-nri/hookline/integration/fixture"
)

func TestMain(m *testing.M) { fixture.Main(m) }
