// Command kube-controller-manager is the stock controller manager: the one that ours is compared with.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	// Registered by being imported: request metrics of its clients, and the version metric.
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

func main() {
	os.Exit(cli.Run(app.NewControllerManagerCommand()))
}
