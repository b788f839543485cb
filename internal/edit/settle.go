// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"bytes"
	"errors"
	"fmt"
	"go/format"
	"regexp"
	"strconv"
	"strings"
)

// spdx is the first line of every Go file of this repository.
const spdx = "// SPDX-License-Identifier: Apache-2.0\n"

// notice replaces it upstream.
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

const rules = `[LNR][0-9]+(?:,? (?:and )?[LNR][0-9]+)*`

// Citations of rules: on a line of their own, at the start of a line, behind words, and before
// an item of a list.
var (
	citedAlone  = regexp.MustCompile(`\n[ \t]*//[ \t]*\(` + rules + `\)([.,:;]?)(\n|$)`)
	citedFirst  = regexp.MustCompile(`\n([ \t]*//)[ \t]*\(` + rules + `\)([.,:;]?)`)
	citedBehind = regexp.MustCompile(`[ ]?\(` + rules + `\)`)
	citedItem   = regexp.MustCompile(`(//[ \t]+- )` + rules + ` `)
	ruleTest    = regexp.MustCompile(`\b(Test|Fuzz|Benchmark)[LNR][0-9]+(?:And[LNR][0-9]+)*_`)
)

// uncited returns a comment without its citations of rules, which upstream does not have.
func uncited(comment string) string {
	comment = citedAlone.ReplaceAllString(comment, "$1$2")
	comment = citedFirst.ReplaceAllString(comment, "$2\n$1")
	comment = citedBehind.ReplaceAllString(comment, "")
	return citedItem.ReplaceAllString(comment, "$1")
}

// settle turns a Go file of this repository into one of the upstream module: with that project's
// licence notice, with import paths of that module, and without citations of this project's
// rules. The file is formatted again, since the new paths sort differently.
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
	for _, group := range s.file.Comments {
		sp := s.span(group)
		if text := uncited(string(s.text[sp.lo:sp.hi])); sp.lo >= len(spdx) && text != string(s.text[sp.lo:sp.hi]) {
			changes = append(changes, replace(sp.lo, sp.hi, text))
		}
	}
	out, err := s.splice(changes)
	if err != nil {
		return nil, err
	}
	return format.Source(ruleTest.ReplaceAll(out, []byte("$1")))
}
