// SPDX-License-Identifier: Apache-2.0

// Command pause is the only program in the pods of the tests, see package idle.
package main

import "github.com/hookline-nri/hookline/testkit/pause/idle"

func main() { idle.Main() }
