// SPDX-License-Identifier: Apache-2.0

package server

import sandboxstore "github.com/containerd/containerd/v2/internal/cri/store/sandbox"

// CreatingSandboxes returns the sandboxes that are being created.
func (i *criImplementation) CreatingSandboxes() *sandboxstore.Creations { return &i.c.creations }
