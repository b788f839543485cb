// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	yaml "go.yaml.in/yaml/v3"

	"github.com/containerd/nri/pkg/api"
	nriplugin "github.com/containerd/nri/pkg/plugin"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// annotated is how many plugins a pod's annotation may require at most.
const annotated = 64

// An error quotes the beginning of an annotation, since its author is a tenant (L22).
const quoted = "annotation %s is %.256q"

// required returns the plugins that a pod or container requires: by the settings, and by
// an annotation of the pod. A pod that tolerates missing plugins requires those alone whose
// settings do not allow that.
func (r *Adaptation) required(_ context.Context, ev lifecycle.Event) ([]lifecycle.Requirement, error) {
	if len(r.requiredNames) == 0 && r.validator == nil {
		return nil, nil
	}
	pod, ctr := subject(ev)
	tolerated, err := r.tolerated(pod, ctr.GetName())
	if err != nil {
		return nil, err
	}
	var required []lifecycle.Requirement
	for _, name := range r.requiredNames {
		s := r.pluginSettings[name]
		if s.requiredFor(ev.Kind) && !s.exempts(pod) && !(tolerated && s.AllowToleration) {
			required = append(required, lifecycle.Requirement{Plugin: name, Wait: s.wait()})
		}
	}
	if tolerated {
		return required, nil
	}
	names, err := r.annotated(pod, ctr.GetName())
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		required = r.orPresent(required, name)
	}
	return required, nil
}

// orPresent adds a plugin that pods and their containers require in one place, unless it is required
// already. Most plugins subscribe to events of one of the two: a plugin that did not subscribe must only
// be connected.
func (r *Adaptation) orPresent(required []lifecycle.Requirement, name string) []lifecycle.Requirement {
	if slices.ContainsFunc(required, func(r lifecycle.Requirement) bool { return r.Plugin == name }) {
		return required
	}
	return append(required, lifecycle.Requirement{Plugin: name, Wait: r.settingsOf(name).wait(), OrPresent: true})
}

func (s PluginSettings) requiredFor(kind lifecycle.Kind) bool {
	if kind == lifecycle.RunPodSandbox {
		return s.RequiredForPods
	}
	return s.RequiredForContainers
}

// exempts reports whether a pod and its containers may start without the plugin.
func (s PluginSettings) exempts(pod *PodSandbox) bool {
	return slices.Contains(s.ExemptNamespaces, pod.GetNamespace()) || s.ExemptHostNetwork && onHostNetwork(pod)
}

// onHostNetwork reports whether a pod is known to have no network of its own.
func onHostNetwork(pod *PodSandbox) bool {
	namespaces := pod.GetLinux().GetNamespaces()
	return len(namespaces) > 0 && !slices.ContainsFunc(namespaces, func(n *api.LinuxNamespace) bool { return n.GetType() == "network" })
}

func (s PluginSettings) wait() time.Duration { return cmp.Or(s.Wait, DefaultPluginWait) }

// tolerated reports whether a pod, or a container of it, asks to start without its required
// plugins, by the annotation that is set for the default validator.
func (r *Adaptation) tolerated(pod *PodSandbox, container string) (bool, error) {
	if r.validator == nil || r.validator.TolerateMissingAnnotation == "" {
		return false, nil
	}
	key := r.validator.TolerateMissingAnnotation
	value, ok := nriplugin.GetEffectiveAnnotation(pod, key, container)
	if !ok {
		return false, nil
	}
	tolerated, err := strconv.ParseBool(value)
	if err != nil {
		return false, fmt.Errorf(quoted+": set it to true or false", key, value)
	}
	return tolerated, nil
}

// annotated returns the plugins that a pod, or a container of it, requires by the
// annotation of the default validator, if that is enabled.
func (r *Adaptation) annotated(pod *PodSandbox, container string) ([]string, error) {
	if r.validator == nil {
		return nil, nil
	}
	value, ok := nriplugin.GetEffectiveAnnotation(pod, nriplugin.RequiredPluginsAnnotation, container)
	if !ok {
		return nil, nil
	}
	return namesIn(value)
}

// namesIn returns the names in a value of the annotation that requires plugins, each once.
func namesIn(value string) ([]string, error) {
	const key = nriplugin.RequiredPluginsAnnotation
	var names []string
	if yaml.Unmarshal([]byte(value), &names) != nil {
		return nil, fmt.Errorf(quoted+": set it to a list of names, as [ \"logger\" ]", key, value)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > annotated {
		return nil, fmt.Errorf("annotation %s has %d plugins: no more than %d can be required", key, len(names), annotated)
	}
	return names, nil
}
