// SPDX-License-Identifier: Apache-2.0

package cniexec

// A bounded keeps the first bytes that are written to it, up to limit, and drops the rest. If
// strict, it returns an error for the rest, so that the writer at the other end of the pipe
// gets one.
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
