// SPDX-License-Identifier: Apache-2.0

// Command nmeter stands in for busybox' nmeter, which Debian's busybox lacks, in the images of Kubernetes'
// node tests. They use only its time of day with milliseconds.
package main

import (
	"fmt"
	"time"
)

func main() { fmt.Println(time.Now().UTC().Format("15:04:05.000")) }
