// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/hookline-nri/hookline/conformance/liar"
	"github.com/hookline-nri/hookline/conformance/report"
	"github.com/hookline-nri/hookline/testkit/plugin"
	"github.com/hookline-nri/hookline/testkit/wait"
)

func TestMain(m *testing.M) {
	if acted, err := plugin.Act(); acted {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	adaptation.SetPluginRequestTimeout(8 * time.Second)
	adaptation.SetPluginRegistrationTimeout(8 * time.Second)
	os.Exit(m.Run())
}

// on runs the program on a runtime that lies, and returns its exit code and its report.
func on(t *testing.T, lie liar.Lie, flags ...string) (int, *report.Report) {
	t.Helper()
	folder, err := os.MkdirTemp("", "liar") // short enough for sockets
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	r, err := liar.Start(folder, lie)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	reports := filepath.Join(folder, "reports")
	code := run(t.Context(), append([]string{"nri-conformance", "--runtime-endpoint", "unix://" + r.CRI(), "--nri-socket", r.NRI(),
		"--image", "none", "--cni-state", filepath.Join(folder, "cni"), "--soon", "1m", "--report-dir", reports}, flags...))
	text, err := os.ReadFile(filepath.Join(reports, "report.json"))
	if os.IsNotExist(err) {
		return code, nil
	}
	require.NoError(t, err)
	requireValid(t, text)
	var written report.Report
	require.NoError(t, json.Unmarshal(text, &written))
	return code, &written
}

// requireValid checks the program's report against its published schema.
func requireValid(t *testing.T, text []byte) {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	schema, err := c.Compile("../../conformance/report/report.schema.json")
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	require.NoError(t, schema.Validate(document))
}

const (
	received = "L3_RemovalOfARunningPodDeliversEveryEnd"
	fails    = "L8_StopGoesOnIfAPluginFails"
)

func TestEndsWithZeroIfNoCaseFailed(t *testing.T) {
	code, r := on(t, liar.Honest, "--case", received+","+fails, "--repeat", "2", "--seed", "3", "--timelines")
	require.Zero(t, code)
	require.Equal(t, 4, r.Count(report.Passed))
}

func TestEndsWithOneIfACaseFailed(t *testing.T) {
	code, r := on(t, liar.FailsStopIfAPluginFails, "--case", received, "--case", fails)
	require.Equal(t, 1, code)
	require.Equal(t, 1, r.Count(report.Failed))
	require.Equal(t, 1, r.Count(report.Passed))
}

func TestEndsWithTwoForAnErrorOfItsOwn(t *testing.T) {
	for name, flags := range map[string][]string{
		"no such flag":            {"--nothing"},
		"no such profile":         {"--profile", "nothing"},
		"an argument":             {"nothing"},
		"a skip without a reason": {"--skip", "L8="},
		"a rule for a case":       {"--case", "L3"},
		"a profile to skip":       {"--skip", "pod=slow"},
		"no case of all":          {"--profile", "pod", "--rules", "N4"},
		"nowhere to report to":    {"--report-dir", "/proc/self/nowhere"},
		"half of the commands":    {"--stop-command", "true"},
		"half of CNI":             {"--cni-bin-dir", "/nowhere"},
		"no runtime":              {"--runtime-endpoint", "/nowhere"},
	} {
		t.Run(name, func(t *testing.T) {
			code, r := on(t, liar.Honest, flags...)
			require.Equal(t, 2, code)
			require.Nil(t, r)
		})
	}
}

// A case that was not run has not passed, and makes its profile partial.
func TestSkippedAndUnsupportedAreNotPassed(t *testing.T) {
	code, r := on(t, liar.FailsStopIfAPluginFails, "--profile", "teardown,network", "--rules", "L8,L3,N4",
		"--skip", "L8=known, and mended in the next release", "--skip", received+"=slow")
	require.Zero(t, code)
	require.Zero(t, r.Count(report.Passed))
	require.Len(t, r.Profiles, 2)
	require.Positive(t, r.Count(report.Skipped))
	require.Positive(t, r.Count(report.Unsupported))
	for _, c := range r.Cases {
		switch c.Rule {
		case "L8":
			require.Equal(t, report.Skipped, c.Verdict)
			require.Equal(t, "known, and mended in the next release", c.Reason)
		case "N4":
			require.Equal(t, report.Unsupported, c.Verdict)
			require.Contains(t, c.Reason, "--cni-bin-dir")
		default:
			require.Equal(t, report.Skipped, c.Verdict, c.Name)
		}
	}
	for _, p := range r.Profiles {
		require.Equal(t, map[string]report.Verdict{"teardown": report.Partial, "network": report.Unsupported}[p.Name], p.Verdict, p.Name)
	}
}

// leave runs a command that must end, although a process that it leaves in the background does not.
func leave(ctx context.Context, t *testing.T, command string) {
	t.Helper()
	ran := make(chan error, 1)
	go func() { ran <- shell(command)(ctx) }()
	select {
	case err := <-ran:
		require.NoError(t, err)
	case <-ctx.Done(): // the open output may block it longer
		t.Fatal("it waited for the runtime to end")
	}
}

// A command that starts the runtime may leave it in the background, with its output open.
func TestCommandMayLeaveTheRuntimeInTheBackground(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	file := filepath.Join(t.TempDir(), "pid")
	end := sync.OnceValue(func() error {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			return err
		}
		return syscall.Kill(pid, syscall.SIGKILL)
	})
	t.Cleanup(func() { _ = end() })
	leave(ctx, t, "tail -f /dev/null & echo $! > "+file)
	require.NoError(t, end(), "it runs")

	require.ErrorContains(t, shell("echo well >&2; exit 3")(ctx), "exit status 3: well")
}

// It can write to its output as long as it runs: a write to a pipe without a reader would end it.
func TestRuntimeInTheBackgroundMaySayThings(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	stop, said, ended := filepath.Join(t.TempDir(), "stop"), filepath.Join(t.TempDir(), "said"), filepath.Join(t.TempDir(), "ended")
	t.Cleanup(func() { // before the folders that it uses are removed
		require.NoError(t, os.WriteFile(stop, nil, 0o644))
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, wait.Until(ctx, "it to end", func(context.Context) error {
			_, err := os.Stat(ended)
			return err
		}))
	})
	leave(ctx, t, fmt.Sprintf("{ while [ ! -e %s ] && echo well; do echo x >>%s; sleep 0.01; done; : >%s; } &", stop, said, ended))
	length := func() int64 {
		info, err := os.Stat(said)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	before := length()
	require.NoError(t, wait.Until(ctx, "it to go on", func(context.Context) error {
		if length() < before+20 {
			return errors.New("it says nothing")
		}
		return nil
	}))
}
