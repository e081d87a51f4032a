// Command kube-scheduler is the stock scheduler: the one that binds pods on the real and on the embedded API server.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	// Registered by being imported: request metrics of its clients, and the version metric.
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
)

func main() {
	os.Exit(cli.Run(app.NewSchedulerCommand()))
}
