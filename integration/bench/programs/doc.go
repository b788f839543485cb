// SPDX-License-Identifier: Apache-2.0

// Package programs records which programs run on the machine, from when to when, what they
// take of the processors, and where they wait for the disk.
//
// Times are perf's, from tracepoints of the kernel. These have no arguments of a program: command lines are
// read from /proc as soon as the kernel tells of a start (the process connector), and are
// missing where the program was gone by then. Neither stops a program that is recorded.
package programs
