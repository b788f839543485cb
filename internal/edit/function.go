// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"strings"
)

// Signature replaces everything from the keyword func up to the body; text begins with func.
func (sc Scope) Signature(text string) Edit {
	text, err := joined(text)
	if err == nil && !strings.HasPrefix(text, "func") {
		err = errors.New(`signature does not begin with "func"`)
	}
	return sc.edit(func(d *decl) ([]splice, error) {
		if d.fn == nil {
			return nil, errors.New("is not a function")
		}
		sig := span{d.src.offset(d.fn.Type.Func), d.src.span(d.fn.Type).hi}
		return []splice{replace(sig.lo, sig.hi, text)}, nil
	}, err)
}
