// SPDX-License-Identifier: Apache-2.0

package plugin

// Tasks returns for how many pods Take or Free is tried again.
func (p *Pods[T]) Tasks() (n int) {
	p.tasks.Range(func(any, any) bool {
		n++
		return true
	})
	return n
}

// CloseFolder lets each record fail at its last step.
func (p *Pods[T]) CloseFolder() error { return p.records.folder.Close() }
