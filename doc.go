// SPDX-License-Identifier: Apache-2.0

// Package hookline is the root of a patch set over containerd v2 and its NRI
// library, and has no code. Four packages below it are modules of their own, for others
// to require:
//
//   - plugin runs a plugin that is connected again and keeps what it holds for each
//     pod, and tests it without a runtime;
//   - podstate tells a plugin where a pod is in its life;
//   - podresources tells a plugin, and a sandboxer, what the containers of a pod ask
//     for before the first of them exists, and lets CRI clients and admission
//     webhooks say so;
//   - updates tells a plugin which of the updates held that it has asked for.
//
// The patches are in patches, what they bring along in internal/nri and
// internal/cri, here and in those modules, and the command that builds, checks and
// tests them is hack.
package hookline
