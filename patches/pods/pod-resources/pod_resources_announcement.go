// SPDX-License-Identifier: Apache-2.0

package podresources

import "github.com/hookline-nri/hookline/internal/edit"

// PodResourcesAnnouncement adds a type for the announced resources of a pod, and its encodings.
var PodResourcesAnnouncement = edit.Patch{
	Slug:    "pod-resources-announcement",
	Module:  "containerd",
	Subject: "cri: add the announcement of a pod's resources and its encodings",
	Body: `The announced resources of a pod's containers need a form for each place
that they pass. They arrive in the request, or in an annotation of the
pod if the client does not know the KEP. They are kept in the sandbox's
record, change with updates, and go to NRI plugins.

Add an immutable type for them, and an encoding for each of these
places. The requests of an annotation are bounded by the resources of
the machine, because the author of the pod writes it.

Nothing uses it yet. The sandbox's record gets one more extension, which
a released containerd ignores and leaves in place.`,
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
