// SPDX-License-Identifier: Apache-2.0

// Command scripted is an NRI plugin that runs the script in its environment, for plugins that run
// in a container of their own image.
package main

import (
	"fmt"
	"os"

	"github.com/hookline-nri/hookline/testkit/plugin"
)

func main() {
	acted, err := plugin.Act()
	if err != nil || !acted {
		fmt.Fprintln(os.Stderr, "scripted: no script, or it failed:", err)
		os.Exit(1)
	}
}
