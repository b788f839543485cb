// SPDX-License-Identifier: Apache-2.0

package nrirequiredbyrequest

import "github.com/hookline-nri/hookline/internal/edit"

const required = "pkg/adaptation/required.go" // of nri/required-plugins

// RequiredByRequest lets a runtime require plugins for a single pod or container.
var RequiredByRequest = edit.Patch{
	Slug:    "required-by-request",
	Module:  "nri",
	Subject: "adaptation: let a runtime require plugins for one request",
	Body: `A driver of devices may do a part of its work as an NRI plugin. While that
is disconnected, pods start whose devices are not set up. To prevent it,
somebody has to require the plugin: for all pods of a node, or by an
annotation of each pod. But only the driver and the runtime know which
pods have its devices.

Let a runtime require plugins for the pod or container of one request
(WithRequired), and read the value of the annotation that requires plugins
(RequiredIn), which a driver may write elsewhere. The operator's exempt
namespaces hold, and so does the toleration of missing plugins, for plugins
whose settings allow it. As with the annotation of a pod, a plugin that did
not subscribe to the event must only be connected.`,
	Refs:   []string{"containerd/nri#282", "containerd/nri#316"},
	Rules:  []string{"L29"},
	Status: edit.Upstream,
	Until:  "NRI lets a runtime require plugins for a single pod or container",
	Needs:  []string{"nri/required-plugins"},
	Edits: []edit.Edit{
		edit.In(required, edit.Method("Adaptation", "required")).Signature("func (r *Adaptation) required(ctx context.Context, ev lifecycle.Event) ([]lifecycle.Requirement, error)"),
		edit.In(required, edit.Method("Adaptation", "required")).Doc(`// required returns the plugins that a pod or container requires: by the settings, by its
// request, and by an annotation of the pod. A pod that tolerates missing plugins requires those
// alone whose settings do not allow that.`),
		edit.In(required, edit.Method("Adaptation", "required")).Replace(edit.Expr("r.validator == nil"), "r.validator == nil && len(requiredBy(ctx)) == 0"),
		edit.In(required, edit.Method("Adaptation", "required")).Before(edit.Stmt(edit.If("tolerated")), `required = r.addByRequest(ctx, required, pod, tolerated)
`),
	},
}
