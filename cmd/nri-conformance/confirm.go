// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hookline-nri/hookline/conformance/report"
)

// confirm prints which cases cannot run, and the settings that they need. On a terminal it asks
// whether to run the others without them. An interrupt ends the question.
func confirm(ctx context.Context, w, in *os.File, lacks []report.Lack, yes bool) error {
	fmt.Fprintln(w, "Some cases cannot run:")
	listLacks(w, lacks)
	if yes || !isTerminal(in) || !isTerminal(w) {
		return nil
	}
	fmt.Fprint(w, "Run the others? [y/N] ")
	answer := make(chan string, 1)
	go func() { // ends with the answer, or with the program
		line, _ := bufio.NewReader(in).ReadString('\n')
		answer <- line
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case line := <-answer:
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return nil
		}
	}
	return errors.New("no case has run: use the settings listed above, or answer yes")
}

// listLacks prints a line for each reason, and the setting that helps.
func listLacks(w io.Writer, lacks []report.Lack) {
	for _, l := range lacks {
		fmt.Fprintf(w, "  %d: it %s", l.Cases, l.Reason)
		if l.Help != "" {
			fmt.Fprintf(w, " (%s)", l.Help)
		}
		fmt.Fprintln(w)
	}
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
