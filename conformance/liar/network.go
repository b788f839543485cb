// SPDX-License-Identifier: Apache-2.0

package liar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/containernetworking/cni/libcni"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// SetNetwork makes the runtime run STATUS of the network in these folders of CNI. It does nothing
// else with the network: its pods have none.
func (r *Runtime) SetNetwork(bin, conf string) { r.cniBin, r.cniConf = bin, conf }

// network returns the error of the network's STATUS.
func (r *Runtime) network(ctx context.Context) error {
	if r.cniConf == "" {
		return nil
	}
	files, err := libcni.ConfFiles(r.cniConf, []string{".conflist"})
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("no network configuration")
	}
	list, err := libcni.NetworkConfFromFile(files[0])
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if err := libcni.NewCNIConfig([]string{r.cniBin}, nil).GetStatusNetworkList(ctx, list); err != nil {
		return fmt.Errorf("network %s: %w", list.Name, err)
	}
	return nil
}

// Status says that all is ready, except a network whose STATUS fails.
func (r *Runtime) Status(ctx context.Context, _ *runtime.StatusRequest) (*runtime.StatusResponse, error) {
	network := &runtime.RuntimeCondition{Type: runtime.NetworkReady, Status: true}
	if err := r.network(ctx); err != nil && r.lie != SaysNetworkIsReady {
		network.Status, network.Reason, network.Message = false, "NetworkNotReady", err.Error()
	}
	return &runtime.StatusResponse{Status: &runtime.RuntimeStatus{Conditions: []*runtime.RuntimeCondition{
		{Type: runtime.RuntimeReady, Status: true}, network,
	}}}, nil
}
