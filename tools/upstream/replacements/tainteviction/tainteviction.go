// Package tainteviction stands in for k8s.io/kubernetes/pkg/controller/tainteviction in tests of Kubernetes: the same
// constructor, and a process of `nlc controller` behind it.
package tainteviction

import (
	"context"

	coreinformers "k8s.io/client-go/informers/core/v1"
	clientset "k8s.io/client-go/kubernetes"

	"node-lifecycle-controller/test/upstream/replacements/process"
)

// Controller is a process of `nlc controller` that is not started yet.
type Controller struct {
	name string
}

// New has the parameters of Kubernetes; the process has its own informers and client.
func New(_ context.Context, _ clientset.Interface, _ coreinformers.PodInformer, _ coreinformers.NodeInformer, name string) (*Controller, error) {
	return &Controller{name: name}, nil
}

// Run runs the process until the context is done.
func (c *Controller) Run(ctx context.Context) {
	process.Run(ctx, c.name)
}
