// SPDX-License-Identifier: Apache-2.0

// Package cri is the kubelet's side of the tests: a CRI client over gRPC, and the few pod and
// container configurations that the tests need.
package cri

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"
	runtime "k8s.io/cri-api/pkg/apis/runtime/v1"
)

// Client speaks CRI to one runtime. The embedded clients have the whole API; the methods below are
// the steps of a pod's life.
type Client struct {
	Runtime runtime.RuntimeServiceClient
	Images  runtime.ImageServiceClient
	// Handler is the runtime handler of pods; if empty, the runtime's own.
	Handler string
	// Own is the end of the uids of pods. CRI-O keeps a pod whose caller canceled, and returns it
	// to a caller that asks for a pod of the same uid again. Another Own avoids that.
	Own string

	conn         *grpc.ClientConn
	image        string
	cgroupParent string
}

// maxMessage is how large an answer may be, as for the kubelet.
const maxMessage = 16 << 20

// Dial prepares a client for the runtime at a unix socket. Containers run
// image, pods live below cgroupParent. It connects with the first call, and
// again after the runtime was restarted.
func Dial(socket, image, cgroupParent string, more ...grpc.DialOption) (*Client, error) {
	options := append([]grpc.DialOption{
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		// A restarted runtime is back within a moment; grpc's defaults are for networks.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.6, MaxDelay: 200 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
	}, more...)
	conn, err := grpc.NewClient("unix://"+socket, options...)
	if err != nil {
		return nil, fmt.Errorf("dial CRI at %s: %w", socket, err)
	}
	return &Client{
		Runtime:      runtime.NewRuntimeServiceClient(conn),
		Images:       runtime.NewImageServiceClient(conn),
		conn:         conn,
		image:        image,
		cgroupParent: cgroupParent,
	}, nil
}

// Close closes the connection.
func (c *Client) Close() error { return c.conn.Close() }

// RunPod creates a pod and returns its id.
func (c *Client) RunPod(ctx context.Context, pod *runtime.PodSandboxConfig) (string, error) {
	r, err := c.Runtime.RunPodSandbox(ctx, &runtime.RunPodSandboxRequest{Config: pod, RuntimeHandler: c.Handler})
	if err != nil {
		return "", fmt.Errorf("run pod %s: %w", pod.GetMetadata().GetName(), err)
	}
	return r.GetPodSandboxId(), nil
}

// StopPod stops a pod with all of its containers.
func (c *Client) StopPod(ctx context.Context, id string) error {
	if _, err := c.Runtime.StopPodSandbox(ctx, &runtime.StopPodSandboxRequest{PodSandboxId: id}); err != nil {
		return fmt.Errorf("stop pod %s: %w", id, err)
	}
	return nil
}

// RemovePod removes a pod with all of its containers.
func (c *Client) RemovePod(ctx context.Context, id string) error {
	if _, err := c.Runtime.RemovePodSandbox(ctx, &runtime.RemovePodSandboxRequest{PodSandboxId: id}); err != nil {
		return fmt.Errorf("remove pod %s: %w", id, err)
	}
	return nil
}

// Pods lists all pods.
func (c *Client) Pods(ctx context.Context) ([]*runtime.PodSandbox, error) {
	r, err := c.Runtime.ListPodSandbox(ctx, &runtime.ListPodSandboxRequest{})
	if err != nil {
		return nil, fmt.Errorf("list pods: %w", err)
	}
	return r.GetItems(), nil
}

// Create creates a container in a pod that was created from the given
// configuration, and returns its id.
func (c *Client) Create(ctx context.Context, podID string, pod *runtime.PodSandboxConfig, container *runtime.ContainerConfig) (string, error) {
	r, err := c.Runtime.CreateContainer(ctx, &runtime.CreateContainerRequest{
		PodSandboxId:  podID,
		Config:        container,
		SandboxConfig: pod,
	})
	if err != nil {
		return "", fmt.Errorf("create container %s in pod %s: %w", container.GetMetadata().GetName(), podID, err)
	}
	return r.GetContainerId(), nil
}

// Start starts a created container.
func (c *Client) Start(ctx context.Context, id string) error {
	if _, err := c.Runtime.StartContainer(ctx, &runtime.StartContainerRequest{ContainerId: id}); err != nil {
		return fmt.Errorf("start container %s: %w", id, err)
	}
	return nil
}

// PID returns the process of a container that runs. It is 0 if the runtime does not name it.
func (c *Client) PID(ctx context.Context, id string) (int, error) {
	s, err := c.Runtime.ContainerStatus(ctx, &runtime.ContainerStatusRequest{ContainerId: id, Verbose: true})
	if err != nil {
		return 0, fmt.Errorf("ask for container %s: %w", id, err)
	}
	if state := s.GetStatus().GetState(); state != runtime.ContainerState_CONTAINER_RUNNING {
		return 0, fmt.Errorf("container %s is %s", id, state)
	}
	var info struct {
		Pid int `json:"pid"`
	}
	_ = json.Unmarshal([]byte(s.GetInfo()["info"]), &info) // runtimes show what they like there
	return info.Pid, nil
}

// Stop stops a container, which is killed if it has not exited after grace.
// CRI counts in whole seconds.
func (c *Client) Stop(ctx context.Context, id string, grace time.Duration) error {
	if _, err := c.Runtime.StopContainer(ctx, &runtime.StopContainerRequest{ContainerId: id, Timeout: int64(grace.Seconds())}); err != nil {
		return fmt.Errorf("stop container %s: %w", id, err)
	}
	return nil
}

// Remove removes a container, running or not.
func (c *Client) Remove(ctx context.Context, id string) error {
	if _, err := c.Runtime.RemoveContainer(ctx, &runtime.RemoveContainerRequest{ContainerId: id}); err != nil {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}

// Leftover is a resource of a pod that still exists, with its name, path or id.
type Leftover struct{ Kind, Name string }

func (l Leftover) String() string { return l.Kind + " " + l.Name }

// Left lists the pods and containers that exist.
func (c *Client) Left(ctx context.Context) (left []Leftover, err error) {
	pods, err := c.Pods(ctx)
	if err != nil {
		return nil, err
	}
	for _, pod := range pods {
		left = append(left, Leftover{"CRI pod", pod.GetId()})
	}
	containers, err := c.Runtime.ListContainers(ctx, &runtime.ListContainersRequest{})
	if err != nil {
		return nil, err
	}
	for _, container := range containers.GetContainers() {
		left = append(left, Leftover{"CRI container", container.GetId()})
	}
	return left, nil
}
