// SPDX-License-Identifier: Apache-2.0

// Package others runs NRI plugins of other projects, unmodified, and tests what their users need:
// pods start and end, containers have the device or setting that the plugin gives, and the node has
// it back afterwards. hack/tools/plugins pins the versions, and `go run ./hack plugins` builds the
// plugins and runs the tests on stock and on hookline.
//
// All plugins have the same life, in flow_test.go: a plugin joins while a pod runs, is killed,
// joins again, survives a kill of the runtime, and gets a second instance of itself. Each check is
// a verdict, a subtest whose name is a sentence of the report. No verdict depends on the runtime.
package others
