// SPDX-License-Identifier: Apache-2.0

package podresources

import "github.com/hookline-nri/hookline/internal/edit"

// PodResourcesAnnouncement keeps what was read of a pod, in the forms that it comes and goes in.
var PodResourcesAnnouncement = edit.Patch{
	Slug:    "pod-resources-announcement",
	Module:  "containerd",
	Subject: "cri: add the announcement of a pod and its forms",
	Body: `What is announced of the containers of a pod comes in the request, or in an
annotation of the pod where the client does not know the KEP, is kept in the
sandbox's record, changes with updates, and goes to NRI plugins.

Add a type for it that is replaced and never changed, and its form for each.
What an annotation requests is bounded by what the machine has, since whoever
creates the pod writes it.

Nothing uses it yet. What is kept in a sandbox's record is one more extension,
which a released containerd skips and leaves in place.`,
	Refs:   []string{"kubernetes/enhancements#4113", "containerd/nri#286"},
	Rules:  []string{"R1", "R4"},
	Status: edit.Hold,
	Hold:   "KEP-4112 is not merged: CRI and NRI have no fields for it",
	Until:  "CRI and NRI have the fields of KEP-4112",
	Needs:  []string{"containerd/pod-resources-decode"},
	Packages: []edit.Package{{
		From: "podresources/internal/cri/podresources",
		To:   "internal/cri/podresources",
		Only: []string{
			"announcement.go", "annotation.go", "kept.go", "machine.go", "nri.go",
			"announcement_test.go", "annotation_test.go", "bench_test.go", "decode_fuzz_test.go", "kept_test.go", "machine_test.go", "nri_test.go",
		},
	}},
}
