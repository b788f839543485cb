// SPDX-License-Identifier: Apache-2.0

package podresources

import "github.com/hookline-nri/hookline/internal/edit"

// PodResourcesDecode reads the resources of a pod's containers from requests.
var PodResourcesDecode = edit.Patch{
	Slug:    "pod-resources-decode",
	Module:  "containerd",
	Subject: "cri: read the resources of containers that come with their pod",
	Body: `In KEP-4112 the kubelet announces the resources of all containers with
the pod, but CRI has no fields for them yet.

Add a package that reads them, under the KEP's field numbers, from the
unknown fields of requests, which gRPC keeps. An error names the
container and the field that cannot be read. The size of the input is
bounded. Nothing calls the package yet.`,
	Refs:   []string{"kubernetes/enhancements#4113", "containerd/nri#286"},
	Rules:  []string{"R1", "R4"},
	Status: edit.Hold,
	Hold:   "KEP-4112 is not merged: CRI and NRI have no fields for it",
	Until:  "CRI and NRI have the fields of KEP-4112",
	Needs:  []string{"containerd/pod-resources-fields"},
	Packages: []edit.Package{{
		From: "podresources/internal/cri/podresources",
		To:   "internal/cri/podresources",
		Only: []string{
			"doc.go", "resources.pb.go", "resources.proto",
			"bounds.go", "cri.go", "decode.go", "quantity.go", "validate.go",
			"cri_test.go", "decode_test.go", "quantity_test.go", "wire_test.go",
		},
	}},
}
