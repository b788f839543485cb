// SPDX-License-Identifier: Apache-2.0

package podresources

import "github.com/hookline-nri/hookline/internal/edit"

// PodResourcesFields reads and writes fields that a message does not have yet.
var PodResourcesFields = edit.Patch{
	Slug:    "pod-resources-fields",
	Module:  "containerd",
	Subject: "nri: read and write fields that messages do not have yet",
	Body: `CRI's and NRI's messages have no fields yet for the resources that the
kubelet announces with a pod in KEP-4112. A field that a message does
not know is kept by protobuf as it was received.

Add a package that reads and writes such a field under a given number.`,
	Refs:   []string{"kubernetes/enhancements#4113", "containerd/nri#286"},
	Rules:  []string{"R1", "R4"},
	Status: edit.Hold,
	Hold:   "KEP-4112 is not merged: CRI and NRI have no fields for it",
	Until:  "CRI and NRI have the fields of KEP-4112",
	Packages: []edit.Package{{
		From:   "podresources/internal/nri/provisional",
		To:     "internal/nri/provisional",
		Except: []string{"testdata"},
	}},
}
