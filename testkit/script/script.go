// SPDX-License-Identifier: Apache-2.0

// Package script writes the scripts that stand in for programs in tests.
package script

import (
	"os"
	"strings"
	"syscall"
)

// Write puts a script at path, and replaces an existing file or link there. The script can be run at
// once: this process starts no other process while the file is open. That process would hold the file
// open until it runs its own program, and Linux does not run the script meanwhile (ETXTBSY,
// https://go.dev/issue/22315).
func Write(path, text string) error {
	next := path + ".new"
	if err := write(next, text); err != nil {
		return err
	}
	return os.Rename(next, path)
}

// StandIn replaces the link to a program at path by a script. words are pairs of a word of the script
// and its replacement; @PROGRAM@ becomes the program. It fails with EINVAL if path is not a link, such
// as when it already has a script.
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
