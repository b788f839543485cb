// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"errors"
	"fmt"
)

// teardownErrors collects the errors of plugins at the end of a pod or container,
// which goes to all of them.
type teardownErrors []error

// add adds the error of a plugin, unless it is nil.
func (e *teardownErrors) add(p *plugin, err error) {
	if err != nil {
		*e = append(*e, fmt.Errorf("plugin %q: %w", p.name(), err))
	}
}

// join returns all errors as one, nil if there are none.
func (e teardownErrors) join() error {
	return errors.Join(e...)
}
