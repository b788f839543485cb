// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"io"

	"golang.org/x/perf/benchfmt"
)

// Write writes the measurements in the format of go test -bench, a line for each, for
// benchstat.
func Write(w io.Writer, rows []Row) error {
	out := benchfmt.NewWriter(w)
	for _, r := range rows {
		for _, side := range r.sides() {
			for _, x := range side.sample {
				err := out.Write(&benchfmt.Result{
					Name:   benchfmt.Name(r.Name + "/runtime=" + side.name),
					Iters:  1,
					Values: []benchfmt.Value{{Value: x, Unit: r.Unit}},
				})
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
