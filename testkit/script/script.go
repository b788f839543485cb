// SPDX-License-Identifier: Apache-2.0

// Package script writes the scripts that stand in for programs in tests.
package script

import (
	"os"
	"strings"
	"syscall"
)

// Write puts a script at path, in the place of what is there, such as a link to a program. It
// can be run at once: this process starts no other while the file is open. That one would hold
// the file open until it runs its own program, and for as long Linux refuses to run the script
// (ETXTBSY, https://go.dev/issue/22315).
func Write(path, text string) error {
	next := path + ".new"
	if err := write(next, text); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// StandIn puts a script in the place of the link to a program at path. words are those of the
// script that are replaced, each with what by; @PROGRAM@ is the program. It fails with EINVAL
// where there is no link, as when a script stands there.
func StandIn(path, text string, words ...string) error {
	program, err := os.Readlink(path)
	if err != nil {
		return err
	}
	return Write(path, strings.NewReplacer(append(words, "@PROGRAM@", program)...).Replace(text))
}

func write(path, text string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(path, []byte(text), 0o755)
}
