// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutspec

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// SandboxWithoutSpec reads a sandbox that has no specification as one without.
var SandboxWithoutSpec = edit.Patch{
	Slug:    "sandbox-without-spec",
	Module:  "containerd",
	Subject: "metadata: read a sandbox without a spec as one without",
	Body: `A sandbox has no specification until it is started, and never if its shim knows
none. What is read of it then is not nil, but a nil pointer in an interface, or
an empty value. Whoever looks for nil goes on to decode it and fails: NRI logs
an error for each such pod whenever it lists them. On a node whose containerd
was killed in the middle of a rollout that is hundreds of errors in a minute,
for what is in order.

Return nil for a specification, or for options of the runtime, that is not
there.

Clients of the sandbox service (ctr, nerdctl, sandbox controllers) get no Spec
and no Options where they got an empty message. What is written does not change,
and records of before are read as well.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "the sandbox store returns a nil Spec for a sandbox that has none",
	Edits: []edit.Edit{
		edit.In("core/metadata/sandbox.go", edit.Method("sandboxStore", "read")).Replace(edit.Expr("boltutil.ReadAny").Times(2), "readAny"),
	},
}
