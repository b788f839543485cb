// SPDX-License-Identifier: Apache-2.0

// Package plugin is for authors of NRI plugins. It runs a plugin over NRI's own stub: it connects again
// when a connection ends (Plugin), and keeps what the plugin holds for each pod (Pods), whatever becomes
// of the plugin and the runtime.
//
//	pods, err := plugin.OpenPods(ctx, "/var/lib/keeper", take, free)
//	...
//	p := &plugin.Plugin{Index: "50", Name: "keeper", Handler: pods}
//	err = p.Run(ctx)
//
// Package plugintest tests such plugins, and others.
package plugin
