// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// requiresPlugins is a pod or container that may require plugins by its devices.
type requiresPlugins interface {
	// GetRequiredPlugins returns the plugins that the devices require which the client gives to the container,
	// or announces with the pod.
	GetRequiredPlugins() ([]string, error)
}

// withRequired has a request require the plugins of its pod or container, if devices may require plugins.
func (l *local) withRequired(ctx context.Context, of requiresPlugins) (context.Context, error) {
	if !l.cfg.CDIRequiredPlugins {
		return ctx, nil
	}
	plugins, err := of.GetRequiredPlugins()
	return nri.WithRequired(ctx, plugins...), err
}
