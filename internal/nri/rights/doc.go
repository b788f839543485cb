// SPDX-License-Identifier: Apache-2.0

// Package rights says what a plugin may do.
//
// Everything that a plugin can do has a path, which NRI's own protocol names: an event that it
// subscribes to, "events.RunPodSandbox"; a field of the adjustment of a new container,
// "adjust.mounts" or "adjust.linux.devices"; "update" and "evict" of other containers. A right is a
// path, or the beginning of several: "adjust.linux" stands for all fields below it.
//
// Messages are read by reflection. A field that a later version of NRI adds has a path without a
// change here, and no right of today allows it but one that stands for all fields beside it.
package rights
