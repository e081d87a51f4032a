// Command kubemark is the real kubelet over a container runtime and a machine that only pretend, put together as the stock
// kubemark does it, with three differences: its probes and its events are real, and all its files lie in one folder.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace/noop"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	remote "k8s.io/cri-client/pkg"
	fakeremote "k8s.io/cri-client/pkg/fake"
	"k8s.io/klog/v2"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
	"k8s.io/kubernetes/pkg/kubelet/cm"
	"k8s.io/kubernetes/pkg/kubemark"
)

const (
	imageBytes      = 1_000_000
	maxPods         = 110
	runtimeTimeout  = 15 * time.Second
	staticURLPeriod = 5 * time.Second
)

var (
	name       = flag.String("name", "", "of the node")
	kubeconfig = flag.String("kubeconfig", "", "file")
	folder     = flag.String("folder", "", "for everything it writes; must be there")
	staticPods = flag.String("static-pods", "", "folder of manifests")
	staticURL  = flag.String("static-pod-url", "", "of one more manifest")
	label      = flag.String("label", "", "of the node, KEY=VALUE")
	events     = flag.Bool("events", true, "send events; needs /dev/kmsg")
)

func main() {
	klog.InitFlags(nil)
	flag.Parse()
	ctx := context.Background()

	key, value, _ := strings.Cut(*label, "=")
	flags, config := kubemark.GetHollowKubeletConfig(&kubemark.HollowKubeletOptions{
		NodeName:   *name,
		MaxPods:    maxPods,
		NodeLabels: map[string]string{key: value},
	})
	must(os.RemoveAll(flags.RootDirectory))
	flags.RootDirectory = *folder
	config.PodLogsDir = filepath.Join(*folder, "pod-logs")
	config.StaticPodPath = *staticPods
	config.StaticPodURL = *staticURL
	config.HTTPCheckFrequency.Duration = staticURLPeriod
	config.ClusterDNS = []string{"10.0.0.10"}
	config.EnableControllerAttachDetach = true // as kubelets have it
	config.EnableServer = false
	config.ReadOnlyPort = 0

	runtime := fakeremote.NewFakeRemoteRuntime()
	runtime.ImageService.SetFakeImageSize(imageBytes)
	endpoint := "unix://" + filepath.Join(*folder, "runtime.sock")
	must(runtime.Start(endpoint))
	runtimeService, err := remote.NewRemoteRuntimeService(ctx, endpoint, runtimeTimeout, noop.NewTracerProvider(), false)
	must(err)

	heartbeats := func(c *rest.Config) {
		c.QPS = -1
		c.Timeout = config.NodeStatusUpdateFrequency.Duration
	}
	kubelet := kubemark.NewHollowKubelet(flags, config, client(nil), client(heartbeats),
		&cadvisortest.Fake{NodeName: *name}, runtime.ImageService, runtimeService, cm.NewStubContainerManager())
	kubelet.KubeletDeps.ProbeManager = nil // its own
	kubelet.KubeletDeps.Recorder = &record.FakeRecorder{}
	if *events {
		kubelet.KubeletDeps.Recorder = nil // its own
		kubelet.KubeletDeps.EventClient = client(nil).CoreV1()
	}
	kubelet.Run(ctx)
}

// client has the rate that a kubelet has by default, unless changed.
func client(change func(*rest.Config)) *clientset.Clientset {
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	must(err)
	config.UserAgent = "kubelet"
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.QPS, config.Burst = 50, 100
	if change != nil {
		change(config)
	}
	made, err := clientset.NewForConfig(config)
	must(err)
	return made
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
