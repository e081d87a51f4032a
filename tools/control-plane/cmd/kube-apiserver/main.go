// Command kube-apiserver is the stock Kubernetes API server.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"

	// Registered by being imported: request metrics of its own clients, and the version metric.
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
