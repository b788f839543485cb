// SPDX-License-Identifier: Apache-2.0

// Package rights says what a plugin may do.
//
// Everything that a plugin can do has a path, which NRI's own protocol names: an event that it
// subscribes to, "events.RunPodSandbox"; a field of the adjustment of a new container,
// "adjust.mounts", "adjust.linux.devices" or "adjust.linux.resources.cpu"; "update" and "evict" of
// other containers. A right is a
// path, or the beginning of several: "adjust.linux" stands for all fields below it.
//
// Messages are read by reflection. If a later version of NRI adds a field to the adjustment of a
// container, to its part for Linux or to its resources, the field has a path without a change here.
// A right to a field covers all that is in it.
package rights
