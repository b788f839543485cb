// SPDX-License-Identifier: Apache-2.0

package plugins

import (
	"testing"

	"github.com/hookline-nri/hookline/integration/suite"
)

func TestMain(m *testing.M) { suite.Main(m) }
