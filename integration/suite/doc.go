// SPDX-License-Identifier: Apache-2.0

// Package suite has what the tests of several subjects share: their runtime, the promises
// that stock breaks, and the plugins, programs and pods of more than one subject.
package suite
