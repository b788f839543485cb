// SPDX-License-Identifier: Apache-2.0

// Command euid prints its effective user. In the image it belongs to root and has the set-user-ID
// bit.
package main

import (
	"fmt"
	"os"
)

func main() { fmt.Printf("Effective uid: %d\n", os.Geteuid()) }
