// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"
	"fmt"
	"slices"

	"github.com/containerd/nri/pkg/api"
	nriplugin "github.com/containerd/nri/pkg/plugin"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// requiredKey is the key of required plugins in a context.
type requiredKey struct{}

// WithRequired has the pod or container of a request with this context require plugins, by their names, beside
// those that the settings and an annotation of the pod require.
func WithRequired(ctx context.Context, plugins ...string) context.Context {
	if len(plugins) == 0 {
		return ctx
	}
	return context.WithValue(ctx, requiredKey{}, plugins)
}

func requiredBy(ctx context.Context) []string {
	plugins, _ := ctx.Value(requiredKey{}).([]string)
	return plugins
}

// RequiredIn returns the names in a value of the annotation that requires plugins, where a runtime finds one
// elsewhere than on a pod: for WithRequired. It has one name or more.
func RequiredIn(value string) ([]string, error) {
	names, err := namesIn(value)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("annotation %s has no plugin", nriplugin.RequiredPluginsAnnotation)
	}
	for _, name := range names {
		if err := api.CheckPluginName(name); err != nil {
			return nil, fmt.Errorf("annotation %s: %w", nriplugin.RequiredPluginsAnnotation, err)
		}
	}
	return names, nil
}

// addByRequest adds the plugins that the request requires. The operator's exemptions hold, except that of pods on
// the host's network, which is for networks.
func (r *Adaptation) addByRequest(ctx context.Context, required []lifecycle.Requirement, pod *PodSandbox, tolerated bool) []lifecycle.Requirement {
	for _, name := range requiredBy(ctx) {
		s := r.settingsOf(name)
		if slices.Contains(s.ExemptNamespaces, pod.GetNamespace()) || tolerated && s.AllowToleration {
			continue
		}
		required = r.orPresent(required, name)
	}
	return required
}
