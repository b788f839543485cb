// SPDX-License-Identifier: Apache-2.0

// Package netattach takes a pod off its networks with what libcni kept when
// the pod was attached to them (N3). So a DEL needs no configuration to be
// loaded, and is made with the one of its ADD if another has taken its place.
//
// libcni keeps a file for each attachment, by network, container and
// interface, from a whole ADD to its DEL: the configuration, the arguments and
// the result. A DEL through libcni reads the result from there, gives it to
// the plugins, and removes the file if all of them agree. Therefore
//
//   - the removal of a configuration loses nothing here;
//   - an ADD that failed has kept nothing, and wants a DEL with the loaded
//     configuration;
//   - a DEL for another configuration with the same network name would take the
//     file with it, so what is kept is used first.
//
// Not kept by libcni are plugins whose configuration lies in files of their
// own, beside that of their network. They get their DEL while the network is
// loaded. After that, if a network has no other plugin, its DEL fails until
// another network is loaded, and the pod is let go; if it has, they get none.
//
// An ADD is made here too ([Kept.Attach]), by the same exec as its DEL.
//
// What is kept also tells which attachments are not valid any more when a
// runtime comes up ([Kept.Collect]).
package netattach
