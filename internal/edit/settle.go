// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"strconv"
	"strings"
)

// spdx is the first line of every Go file of this repository.
const spdx = "// SPDX-License-Identifier: Apache-2.0\n"

// notice takes its place upstream.
const notice = `/*
   Copyright The containerd Authors.

   Licensed under the Apache License, Version 2.0 (the "License");
   you may not use this file except in compliance with the License.
   You may obtain a copy of the License at

       http://www.apache.org/licenses/LICENSE-2.0

   Unless required by applicable law or agreed to in writing, software
   distributed under the License is distributed on an "AS IS" BASIS,
   WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
   See the License for the specific language governing permissions and
   limitations under the License.
*/
`

// settle turns a Go file of this repository into one of the upstream module: with
// that project's licence notice, and with import paths of that module. It is
// formatted again, as other paths sort differently.
func settle(src []byte, self string, paths map[string]string) ([]byte, error) {
	if !bytes.HasPrefix(src, []byte(spdx)) {
		return nil, fmt.Errorf("does not begin with %q", strings.TrimSpace(spdx))
	}
	if err := checkFormat(src); err != nil {
		return nil, fmt.Errorf("is not gofmt-clean: %w", err)
	}
	s, err := parse("", src)
	if err != nil {
		return nil, err
	}
	changes := []splice{replace(0, len(spdx), notice)}
	for _, spec := range s.file.Imports {
		from := importOf(spec).path
		if from != self && !strings.HasPrefix(from, self+"/") {
			continue
		}
		to, ok := paths[from]
		if !ok {
			return nil, errors.New("imports " + from + ", which no patch up to this one brings to a module that it can import")
		}
		sp := s.span(spec.Path)
		changes = append(changes, replace(sp.lo, sp.hi, strconv.Quote(to)))
	}
	out, err := s.splice(changes)
	if err != nil {
		return nil, err
	}
	return format.Source(out)
}
