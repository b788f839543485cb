// SPDX-License-Identifier: Apache-2.0

package ledger

// An Object is a pod or a container as the runtime lists it.
type Object struct {
	Pod       string
	Container string // empty for a pod
	// Stopped is set for a pod whose StopPodSandbox had ended before this runtime started,
	// or that stopped without the engine. The connection receives the pod, and then only its
	// Remove.
	Stopped bool
	// Creating is set for a pod that is not Ready yet.
	Creating bool
	// Value is for the sync function of Engine.Join alone.
	Value any
}

// A Snapshot is a list of the pods and containers that exist at one moment.
type Snapshot struct {
	Pods       []Object
	Containers []Object
	// Exited are containers that have exited and still exist. Synchronize does not have
	// them; a connection that joined earlier may know them.
	Exited []Object
}

// ID names the pod or container.
func (o *Object) ID() ID { return ID{o.Pod, o.Container} }

// Index returns the pods and containers by their IDs.
func (s *Snapshot) Index() map[ID]Object {
	all := make(map[ID]Object, len(s.Pods)+len(s.Containers))
	for _, objects := range [][]Object{s.Pods, s.Containers} {
		for _, o := range objects {
			all[o.ID()] = o
		}
	}
	return all
}
