// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"

// The words of the ledgers are those of the engine.
type (
	// A Kind says what an event tells of its pod or container.
	Kind = ledger.Kind
	// An Event is one thing to be told of one pod or container.
	Event = ledger.Event
	// An Object is a pod or a container as the runtime lists it.
	Object = ledger.Object
	// A Snapshot is what is there at some moment.
	Snapshot = ledger.Snapshot
)

// The kinds, in the order in which a pod and a container go through them.
const (
	Synchronize                 = ledger.Synchronize
	RunPodSandbox               = ledger.RunPodSandbox
	UpdatePodSandbox            = ledger.UpdatePodSandbox
	PostUpdatePodSandbox        = ledger.PostUpdatePodSandbox
	StopPodSandbox              = ledger.StopPodSandbox
	RemovePodSandbox            = ledger.RemovePodSandbox
	CreateContainer             = ledger.CreateContainer
	ValidateContainerAdjustment = ledger.ValidateContainerAdjustment
	PostCreateContainer         = ledger.PostCreateContainer
	StartContainer              = ledger.StartContainer
	PostStartContainer          = ledger.PostStartContainer
	UpdateContainer             = ledger.UpdateContainer
	PostUpdateContainer         = ledger.PostUpdateContainer
	StopContainer               = ledger.StopContainer
	RemoveContainer             = ledger.RemoveContainer
)

// ErrStopped rejects what begins in a pod that is being stopped, or what is
// itself being undone or has ended: a creation, or a start (L11).
var ErrStopped = ledger.ErrStopped
