// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"slices"
	"strings"
)

// Has is a statement that has one of the given shape below it, at any depth.
func Has(below Shape) Shape {
	var has func(*stmt) bool
	has = func(s *stmt) bool {
		return slices.ContainsFunc(s.lists, func(b *stmt) bool { return below.match(b) || has(b) })
	}
	return Shape{name: "has (" + below.name + ")", match: has, err: below.err}
}

// All is a statement that has each of the shapes.
func All(shapes ...Shape) Shape {
	all := Shape{match: func(s *stmt) bool {
		return !slices.ContainsFunc(shapes, func(of Shape) bool { return !of.match(s) })
	}}
	var names []string
	var errs []error
	for _, s := range shapes {
		names = append(names, s.name)
		errs = append(errs, s.err)
	}
	all.name, all.err = strings.Join(names, " and "), errors.Join(errs...)
	return all
}
