// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"slices"

	"github.com/hookline-nri/hookline/internal/edit"
)

// adaptation is the file that relays runtime requests to plugins.
const adaptation = "pkg/adaptation/adaptation.go"

var (
	eachPlugin = edit.Stmt(edit.Range("r.plugins")).As("loop over the plugins")
	onError    = edit.Stmt(edit.If("err != nil")).As("return of the first error")
)

// edits flattens the edits of several places.
func edits(places ...[]edit.Edit) []edit.Edit { return slices.Concat(places...) }
