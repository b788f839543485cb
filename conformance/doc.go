// SPDX-License-Identifier: Apache-2.0

// Package conformance runs the conformance test on a runtime that is there: cases (in
// package cases) one after the other, over the runtime's sockets of CRI and NRI. What
// comes of it is a report.Report.
//
// The command nri-conformance is this package with flags. A test suite that has a
// runtime of its own calls Run. Its program has to call plugin.Act first in main (or
// TestMain), since plugins that are frozen and killed are this program once more.
package conformance
