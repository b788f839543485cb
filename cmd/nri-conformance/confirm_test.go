// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"os"
	"testing"

	"github.com/containerd/console"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/report"
)

var lacking = []report.Lack{
	{Reason: "needs commands that stop, kill and start the runtime", Help: "--stop-command", Cases: 7},
	{Reason: "needs a runtime that shows its plugins", Cases: 2},
}

// newTerminal returns the two ends of a terminal: the user's, and the program's.
func newTerminal(t *testing.T) (user console.Console, program *os.File) {
	t.Helper()
	user, name, err := console.NewPty()
	require.NoError(t, err)
	program, err = os.OpenFile(name, os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, program.Close())
		require.NoError(t, user.Close())
	})
	return user, program
}

func TestQuestionOnATerminal(t *testing.T) {
	for answer, goesOn := range map[string]bool{"y": true, "YES": true, "n": false, "": false} {
		user, program := newTerminal(t)
		require.NoError(t, user.DisableEcho())
		_, err := user.Write([]byte(answer + "\n"))
		require.NoError(t, err)
		err = confirm(t.Context(), program, program, lacking, false)
		require.Equal(t, goesOn, err == nil, "answer %q: %v", answer, err)
		said := bufio.NewReader(user)
		for _, line := range []string{
			"Some cases cannot run:\r\n",
			"  7: it needs commands that stop, kill and start the runtime (--stop-command)\r\n",
			"  2: it needs a runtime that shows its plugins\r\n",
		} {
			got, err := said.ReadString('\n')
			require.NoError(t, err)
			require.Equal(t, line, got)
		}
		question, err := said.ReadString(']')
		require.NoError(t, err)
		require.Equal(t, "Run the others? [y/N]", question)
	}
}

func TestInterruptEndsTheQuestion(t *testing.T) {
	_, program := newTerminal(t)
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	require.ErrorIs(t, confirm(ctx, program, program, lacking, false), context.Canceled)
}

// A question that cannot be seen or answered is not asked; nor is one that is answered already.
func TestNoQuestionWithoutATerminal(t *testing.T) {
	nowhere, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, nowhere.Close()) }()
	_, terminal := newTerminal(t)
	require.NoError(t, confirm(t.Context(), terminal, nowhere, lacking, false))
	require.NoError(t, confirm(t.Context(), nowhere, terminal, lacking, false))
	require.NoError(t, confirm(t.Context(), terminal, terminal, lacking, true))
}
