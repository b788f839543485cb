// SPDX-License-Identifier: Apache-2.0

package edit

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"strings"
)

// item is one token of a piece of source.
type item struct {
	tok    token.Token
	lit    string
	lo, hi int
}

// scan splits a piece of Go source, which need not be complete, into tokens.
// Comments are tokens, semicolons that only newlines imply are not.
func scan(src []byte) ([]item, error) {
	var (
		s    scanner.Scanner
		errs scanner.ErrorList
		all  []item
		fset = token.NewFileSet()
		file = fset.AddFile("", fset.Base(), len(src))
	)
	s.Init(file, src, errs.Add, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return all, errs.Err()
		}
		if tok == token.SEMICOLON && lit != ";" {
			continue
		}
		if lit == "" {
			lit = tok.String()
		}
		lo := file.Offset(pos)
		all = append(all, item{tok, lit, lo, lo + len(lit)})
	}
}

// form returns the source form of an expression: its tokens, so that neither
// white space, comments, a trailing comma nor a line's end in it count.
func form(src []byte) (string, error) {
	items, err := scan(src)
	if err != nil {
		return "", err
	}
	var out []string
	for _, it := range items {
		switch it.tok {
		case token.COMMENT, token.SEMICOLON:
			continue
		case token.RPAREN, token.RBRACE, token.RBRACK:
			if n := len(out); n > 0 && out[n-1] == "," {
				out = out[:n-1]
			}
		}
		out = append(out, it.lit)
	}
	if len(out) == 0 {
		return "", errors.New("empty expression")
	}
	return strings.Join(out, " "), nil
}

// forms returns the forms of expressions that a patch gives; "" stays "".
func forms(exprs []string) ([]string, error) {
	out := make([]string, len(exprs))
	for i, e := range exprs {
		if e == "" {
			continue
		}
		f, err := form([]byte(e))
		if err != nil {
			return nil, fmt.Errorf("expression %q: %w", e, err)
		}
		out[i] = f
	}
	return out, nil
}
