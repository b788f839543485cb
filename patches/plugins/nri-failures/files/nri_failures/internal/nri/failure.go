// SPDX-License-Identifier: Apache-2.0

package nri

import (
	"fmt"

	"github.com/containerd/errdefs/pkg/errgrpc"
	"google.golang.org/grpc/status"
)

// podFailure adds the pod to the error of a request. The result has the class of
// errdefs that corresponds to NRI's code.
func podFailure(pod PodSandbox, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("pod %s/%s: %w", pod.GetNamespace(), pod.GetName(), classified(err))
}

// containerFailure does the same for a container.
func containerFailure(pod PodSandbox, ctr Container, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("container %s of pod %s/%s: %w", ctr.GetName(), pod.GetNamespace(), pod.GetName(), classified(err))
}

func classified(err error) error {
	if _, ok := status.FromError(err); !ok {
		return err
	}
	return errgrpc.ToNative(err)
}
