// SPDX-License-Identifier: Apache-2.0

// Command dranet runs dranet's driver as its own program does, without a cluster: client-go's
// stand-in replaces the client of the API server, and this program replaces the kubelet. It registers
// the driver and has the claims of pods prepared. Each line of the input has the uid of a pod and the
// device that it claims; it is written to the output once the claim is prepared.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
	"sigs.k8s.io/dranet/pkg/driver"
	"sigs.k8s.io/dranet/pkg/inventory"
)

// The names of the driver and of the node.
const (
	name = "dra.net"
	node = "node"
)

func main() {
	folder := flag.String("folder", "", "folder of the kubelet and of the driver's store")
	flag.Parse()
	log.Fatal(run(context.Background(), *folder))
}

// run returns only if it fails.
func run(ctx context.Context, folder string) error {
	registry := filepath.Join(folder, "plugins_registry")
	if err := os.MkdirAll(registry, 0o755); err != nil {
		return err
	}
	registered := make(chan error, 1)
	go func() { registered <- register(ctx, filepath.Join(registry, name+"-reg.sock")) }()
	client := fake.NewClientset(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node}})
	d, err := driver.Start(ctx, name, client, node,
		driver.WithKubeletRootDir(folder), driver.WithDBPath(filepath.Join(folder, "dranet.db")), driver.WithInventory(inventory.New()))
	if err != nil {
		return fmt.Errorf("start dranet: %w", err)
	}
	if err := <-registered; err != nil {
		return fmt.Errorf("register dranet: %w", err)
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var pod, device string
		if _, err := fmt.Sscan(lines.Text(), &pod, &device); err != nil {
			return fmt.Errorf("read %q: %w", lines.Text(), err)
		}
		if err := prepare(ctx, d, pod, device); err != nil {
			return fmt.Errorf("prepare the claim of pod %s: %w", pod, err)
		}
		fmt.Println(lines.Text())
	}
	select {} // the input has ended, and the driver runs on
}

// register does what a kubelet does with the socket of a driver.
func register(ctx context.Context, socket string) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	kubelet := registration.NewRegistrationClient(conn)
	if _, err := kubelet.GetInfo(ctx, &registration.InfoRequest{}, grpc.WaitForReady(true)); err != nil {
		return err
	}
	_, err = kubelet.NotifyRegistrationStatus(ctx, &registration.RegistrationStatus{PluginRegistered: true})
	return err
}

// prepare prepares a claim that has the device for the pod.
func prepare(ctx context.Context, d *driver.NetworkDriver, pod, device string) error {
	claim := &resourcev1.ResourceClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "claim-" + pod, UID: types.UID("claim-" + pod)},
		Status: resourcev1.ResourceClaimStatus{
			ReservedFor: []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: pod, UID: types.UID(pod)}},
			Allocation: &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{
				Results: []resourcev1.DeviceRequestAllocationResult{{Driver: name, Pool: node, Request: "device", Device: device}},
			}},
		},
	}
	results, err := d.PrepareResourceClaims(ctx, []*resourcev1.ResourceClaim{claim})
	if err != nil {
		return err
	}
	result, ok := results[claim.UID]
	if !ok {
		return errors.New("the driver returned no result for it")
	}
	return result.Err
}
