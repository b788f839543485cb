// SPDX-License-Identifier: Apache-2.0

// Package conformance runs the conformance test on a running runtime: cases (in package cases)
// one after the other, over the runtime's sockets of CRI and NRI. The result is a report.Report.
//
// The command nri-conformance is this package with flags. A test suite with a runtime of its own
// calls Run. Its program must call plugin.Act first in main (or TestMain): plugins that are frozen
// or killed are processes of the same program.
package conformance
