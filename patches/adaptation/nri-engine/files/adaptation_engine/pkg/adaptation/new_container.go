// SPDX-License-Identifier: Apache-2.0

package adaptation

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/hookline-nri/hookline/internal/nri/lifecycle"
)

// CreateContainer asks the plugins for a new container, in the order of their
// indices, each with the adjustments of those before it. Then it asks the plugins
// that validate the result.
func (r *Adaptation) CreateContainer(ctx context.Context, req *CreateContainerRequest) (*CreateContainerResponse, error) {
	c := &newContainer{request: req, result: collectCreateContainerResult(req)}
	if r.hasValidators() {
		c.validate = &ValidateContainerAdjustmentRequest{
			Pod:       req.GetPod(),
			Container: proto.Clone(req.GetContainer()).(*Container),
		}
	}
	ev := containerEvent(lifecycle.CreateContainer, req.GetPod(), req.GetContainer(), c)
	err := r.ask(ctx, ev, c.collect)
	response := c.result.createContainerResponse()
	if err == nil && c.validate != nil {
		c.validate.AddResponse(response)
		c.validate.AddOwners(c.result.owners)
		ev.Kind, ev.Request = lifecycle.ValidateContainerAdjustment, c.validate
		err = r.ask(ctx, ev, nil)
	}
	c.settle(ctx, err == nil)
	if err != nil {
		return nil, err
	}
	if r.ordered {
		response.Update = nil // applied
	}
	return response, nil
}

// newContainer is the request for a new container, while plugins are asked.
type newContainer struct {
	request  *CreateContainerRequest
	result   *result
	validate *ValidateContainerAdjustmentRequest // nil without validators
	places
}

// consult adds a plugin to the list of consulted plugins, which validators receive.
// It includes plugins that fail to answer.
func (c *newContainer) consult(p *plugin) {
	if c.validate != nil {
		c.validate.AddPlugin(p.base, p.idx)
	}
}

// collect applies the reply of one plugin. A plugin that did not subscribe is
// connected, and so counts as consulted.
func (c *newContainer) collect(conn lifecycle.Connection, reply any) error {
	if !conn.Subscribed(lifecycle.CreateContainer) {
		c.consult(conn.(connection).plugin)
	}
	return c.places.collect(c.result, conn, reply, c.request.GetContainer().GetId())
}
