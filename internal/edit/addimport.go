// SPDX-License-Identifier: Apache-2.0

package edit

import "go/ast"

// addImport returns the change that imports a package. It may use a group, or
// make one of a single import; an import of "C" is left alone, as the comment
// above it is code.
func (s *source) addImport(add imported) (splice, error) {
	var groups, singles []*ast.GenDecl
	for _, gen := range s.imports() {
		switch {
		case gen.Lparen.IsValid():
			groups = append(groups, gen)
		case importOf(gen.Specs[0].(*ast.ImportSpec)).path != "C":
			singles = append(singles, gen)
		}
	}
	switch {
	case len(groups) > 0:
		return s.addToGroup(groups, add)
	case len(singles) == 1:
		return s.makeGroup(singles[0], add), nil
	case len(singles) > 1:
		last := s.around(singles[len(singles)-1])
		return s.below(last.full.hi, "").put("import " + add.String())
	}
	p := s.below(s.trailing(s.span(s.file.Name).hi), "")
	p.apart(s)
	return p.put("import " + add.String())
}

// makeGroup makes a group of a single import and another.
func (s *source) makeGroup(gen *ast.GenDecl, add imported) splice {
	spec := gen.Specs[0].(*ast.ImportSpec)
	was, lo := importOf(spec), s.span(spec).lo
	end := s.around(gen).full.hi
	first, second := string(s.text[lo:end]), add.String()
	if was.standard() == add.standard() && add.less(was) || add.standard() && !was.standard() {
		first, second = second, first
	}
	between := "\n\t"
	if was.standard() != add.standard() {
		between = "\n\n\t"
	}
	return replace(s.span(gen).lo, end, "import (\n\t"+first+between+second+"\n)")
}

// addToGroup adds to the block that shares most of the path, or makes a new
// block where there are only imports of the other kind: the standard library's
// come first, others last.
func (s *source) addToGroup(groups []*ast.GenDecl, add imported) (splice, error) {
	var best []*ast.ImportSpec
	most := -1
	for _, gen := range groups {
		for _, block := range s.blocks(gen) {
			for _, spec := range block {
				in := importOf(spec)
				n := add.shared(in)
				if add.standard() {
					n = 0
				}
				if in.standard() == add.standard() && in.path != "C" && n > most {
					best, most = block, n
				}
			}
		}
	}
	if best != nil {
		return s.addToBlock(best, add)
	}
	gen := groups[0]
	switch {
	case len(gen.Specs) == 0:
		return s.bottom(span{s.offset(gen.Lparen), s.offset(gen.Rparen)}).put(add.String())
	case add.standard():
		p := s.above(s.around(gen.Specs[0]).full.lo, "\t")
		p.post = "\n"
		return p.put(add.String())
	}
	p := s.below(s.around(gen.Specs[len(gen.Specs)-1]).full.hi, "\t")
	p.pre = "\n"
	return p.put(add.String())
}

func (s *source) addToBlock(block []*ast.ImportSpec, add imported) (splice, error) {
	for _, spec := range block {
		if add.less(importOf(spec)) {
			return s.above(s.around(spec).full.lo, "\t").put(add.String())
		}
	}
	return s.below(s.around(block[len(block)-1]).full.hi, "\t").put(add.String())
}

// blocks splits a group as gofmt does to sort it: where a line lies between.
func (s *source) blocks(gen *ast.GenDecl) [][]*ast.ImportSpec {
	var blocks [][]*ast.ImportSpec
	end := 0
	for _, spec := range gen.Specs {
		sp := s.span(spec)
		if len(blocks) == 0 || s.line(sp.lo) > s.line(end)+1 {
			blocks = append(blocks, nil)
		}
		last := len(blocks) - 1
		blocks[last] = append(blocks[last], spec.(*ast.ImportSpec))
		end = sp.hi
	}
	return blocks
}
