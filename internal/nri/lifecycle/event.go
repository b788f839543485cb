// SPDX-License-Identifier: Apache-2.0

package lifecycle

import "github.com/hookline-nri/hookline/internal/nri/lifecycle/ledger"

// The engine uses the types of the ledger.
type (
	// A Kind is the kind of an event, such as RunPodSandbox.
	Kind = ledger.Kind
	// An Event is one event of one pod or container.
	Event = ledger.Event
	// An Object is a pod or a container as the runtime lists it.
	Object = ledger.Object
	// A Snapshot is a list of the pods and containers that exist at one moment.
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

// ErrStopped rejects a creation or start in a pod that is being stopped, or of a pod or
// container that has ended or is being rolled back (L11).
var ErrStopped = ledger.ErrStopped
