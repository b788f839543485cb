// SPDX-License-Identifier: Apache-2.0

// Package plugintest tests NRI plugins without a runtime. It sends events by NRI's own library, for pods
// that do not exist. Worst plays what a plugin has to cope with and rarely sees.
package plugintest
