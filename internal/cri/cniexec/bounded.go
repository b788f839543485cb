// SPDX-License-Identifier: Apache-2.0

package cniexec

// A bounded keeps the first bytes of what is written to it, up to limit. The rest is
// dropped; or refused, if strict, so that the writer at the other end of the pipe
// gets an error.
type bounded struct {
	limit  int
	strict bool
	kept   []byte
	cut    bool
}

func (b *bounded) Write(p []byte) (int, error) {
	n := min(len(p), b.limit-len(b.kept))
	b.kept = append(b.kept, p[:n]...)
	if n == len(p) {
		return n, nil
	}
	b.cut = true
	if b.strict {
		return n, ErrOutput
	}
	return len(p), nil
}
