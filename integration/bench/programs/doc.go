// SPDX-License-Identifier: Apache-2.0

// Package programs records the programs that run on the machine: their start and end, their CPU
// time, and their waits for the disk.
//
// Times are perf's, from tracepoints of the kernel. These lack the arguments of programs: command
// lines are read from /proc as soon as the kernel reports a start (the process connector), and are
// missing if the program has ended by then. Neither stops a recorded program.
package programs
