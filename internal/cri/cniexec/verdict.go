// SPDX-License-Identifier: Apache-2.0

package cniexec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"

	"github.com/containernetworking/cni/pkg/types"
)

// maxQuoted is how much of a plugin's output an error quotes.
const maxQuoted = 4 << 10

// verdict is the error of a plugin for which Wait returned err.
func verdict(err error, stdout, stderr *bounded) error {
	if stdout.cut {
		return fmt.Errorf("%w: it begins with %q", ErrOutput, quoted(stdout.kept))
	}
	// It exited with 0 and left a process that holds its input: it has answered.
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return err
	}
	var answer types.Error
	if json.Unmarshal(stdout.kept, &answer) == nil && (answer.Code != 0 || answer.Msg != "") {
		return &answer
	}
	for _, output := range []*bounded{stdout, stderr} {
		if text := quoted(output.kept); len(text) > 0 {
			return fmt.Errorf("%w without a CNI error: %q", exit, text)
		}
	}
	return fmt.Errorf("%w without output", exit)
}

// said reports whether err is the plugin's own answer.
func said(err error) bool {
	var answer *types.Error
	return errors.As(err, &answer)
}

func quoted(b []byte) []byte {
	b = bytes.TrimSpace(b)
	return b[:min(len(b), maxQuoted)]
}
