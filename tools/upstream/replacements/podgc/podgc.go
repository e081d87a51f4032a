// Package podgc stands in for k8s.io/kubernetes/pkg/controller/podgc in tests of Kubernetes: the same constructor, and a
// process of `nlc controller` behind it.
package podgc

import (
	"context"
	"fmt"
	"time"

	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"

	"node-lifecycle-controller/test/upstream/replacements/process"
)

// Controller is a process of `nlc controller` that is not started yet.
type Controller struct {
	threshold int
}

// NewPodGCInternal has the parameters of Kubernetes; the process has its own informers and client. The period and the
// quarantine are not used: like the flags of kube-controller-manager, those of `nlc controller` do not change them.
func NewPodGCInternal(
	_ context.Context,
	_ clientset.Interface,
	_ coreinformers.PodInformer,
	_ coreinformers.NodeInformer,
	threshold int,
	_, _ time.Duration,
) *Controller {
	return &Controller{threshold: threshold}
}

// Run runs the process until the context is done.
func (c *Controller) Run(ctx context.Context) {
	process.Run(ctx, "pod-garbage-collector-controller", fmt.Sprintf("--terminated-pod-gc-threshold=%d", c.threshold))
}
