// Package nodelifecycle stands in for k8s.io/kubernetes/pkg/controller/nodelifecycle in tests of Kubernetes: the same
// constructor, and a process of `nlc controller` behind it.
package nodelifecycle

import (
	"context"
	"fmt"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coordinationinformers "k8s.io/client-go/informers/coordination/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/features"

	"node-lifecycle-controller/test/upstream/replacements/process"
)

// Controller is a process of `nlc controller` that is not started yet.
type Controller struct {
	controllers string
	flags       []string
}

// NewNodeLifecycleController has the parameters of Kubernetes; the process has its own informers and client.
//
// kube-controller-manager evaluates nodes once per period, so a node without heartbeats is marked a period after it was
// first seen even if the grace period is shorter. This controller acts at the deadline of each node, and accepts no period
// above the grace period. The tests have grace periods below the period: the period becomes the grace period.
func NewNodeLifecycleController(
	_ context.Context,
	_ coordinationinformers.LeaseInformer,
	_ coreinformers.PodInformer,
	_ coreinformers.NodeInformer,
	_ appsinformers.DaemonSetInformer,
	_ clientset.Interface,
	period, startupGrace, grace time.Duration,
	rate, secondaryRate float32,
	largeCluster int32,
	unhealthyZone float32,
) (*Controller, error) {
	grace = max(grace, period)
	return &Controller{
		controllers: controllers(),
		flags: []string{
			fmt.Sprintf("--node-monitor-period=%s", grace/2),
			fmt.Sprintf("--node-startup-grace-period=%s", startupGrace),
			fmt.Sprintf("--node-monitor-grace-period=%s", grace),
			fmt.Sprintf("--node-eviction-rate=%g", rate),
			fmt.Sprintf("--secondary-node-eviction-rate=%g", secondaryRate),
			fmt.Sprintf("--large-cluster-size-threshold=%d", largeCluster),
			// A fraction. A larger value, which one test has, can no more be reached than 1 with a ready node.
			fmt.Sprintf("--unhealthy-zone-threshold=%g", min(unhealthyZone, 1)),
		},
	}, nil
}

// controllers includes taint eviction unless it is a controller of its own, as in Kubernetes.
func controllers() string {
	if utilfeature.DefaultFeatureGate.Enabled(features.SeparateTaintEvictionController) {
		return "node-lifecycle-controller"
	}
	return "node-lifecycle-controller,taint-eviction-controller"
}

// Run runs the process until the context is done.
func (c *Controller) Run(ctx context.Context) {
	process.Run(ctx, c.controllers, c.flags...)
}
