// SPDX-License-Identifier: Apache-2.0

package sandboxwithoutspec

import (
	"github.com/hookline-nri/hookline/internal/edit"
)

// SandboxWithoutSpec returns a nil specification for a sandbox without one.
var SandboxWithoutSpec = edit.Patch{
	Slug:    "sandbox-without-spec",
	Module:  "containerd",
	Subject: "metadata: return a nil spec for a sandbox without one",
	Body: `NRI logs an error for each sandbox without a specification whenever it
lists them. A sandbox has no specification until it is started, or ever
if its shim has none. The store then returns a nil pointer in an
interface, or an empty value, in place of nil. Callers that compare it
with nil go on to decode it, and fail. A node whose containerd was
killed in the middle of a rollout logs hundreds of errors in a minute,
though nothing is wrong.

Return nil for a missing specification and for missing options of the
runtime.

Clients of the sandbox service (ctr, nerdctl, sandbox controllers)
receive no Spec and no Options where they received an empty message. The
records do not change, and existing records are read as well.`,
	Refs:   []string{"containerd/containerd#13859"},
	Rules:  []string{"L17"},
	Status: edit.Upstream,
	Until:  "the sandbox store returns a nil Spec for a sandbox that has none",
	Edits: []edit.Edit{
		edit.In("core/metadata/sandbox.go", edit.Method("sandboxStore", "read")).Replace(edit.Expr("boltutil.ReadAny").Times(2), "readAny"),
	},
}
