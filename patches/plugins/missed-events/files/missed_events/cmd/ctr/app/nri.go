// SPDX-License-Identifier: Apache-2.0

package app

import "github.com/containerd/containerd/v2/cmd/ctr/commands/nri"

func init() {
	extraCmds = append(extraCmds, nri.Command)
}
