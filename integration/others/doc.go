// SPDX-License-Identifier: Apache-2.0

// Package others runs NRI plugins that others wrote, unmodified, and asks what a user of each
// asks: whether pods start and end, have what the plugin gives them, and whether the plugin gets
// back what it gave. hack/tools/plugins pins what they are built with, and `go run ./hack
// plugins` builds them and runs the tests on stock and on hookline.
//
// All go through the same life, in flow_test.go: a plugin joins beside a pod that runs, is
// killed, comes again, loses the runtime, and meets a second instance of itself. What is asked on
// the way are verdicts, subtests whose names are the sentences of the report. No verdict knows
// which runtime it is on.
package others
