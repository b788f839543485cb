// SPDX-License-Identifier: Apache-2.0

// Package netattach detaches pods from their networks with libcni's cached attachments (N3). So
// a DEL needs no loaded configuration: it runs with that of its ADD, even if another one has
// replaced it.
//
// libcni caches each attachment in a file, by network, container and interface,
// from a successful ADD to its DEL: the configuration, the arguments and the
// result. A DEL through libcni reads the result from there, gives it to the
// plugins, and removes the file if all of them succeed. Therefore
//
//   - the removal of a configuration loses nothing here;
//   - an ADD that failed has no cached attachment, and needs a DEL with the loaded
//     configuration;
//   - a DEL for another configuration with the same network name would remove the
//     file, so cached attachments are used first.
//
// libcni does not cache plugins whose configuration lies in files of their own, beside that of
// their network. They get their DEL while the network is loaded. Later, only the other plugins
// of the network get one. If there are none, the DEL fails until another network is loaded, and
// is then abandoned.
//
// An ADD runs here too ([Cache.Attach]), with the same exec as its DEL.
//
// When a runtime starts, the cache also shows which attachments are no longer valid
// ([Cache.Collect]).
package netattach
