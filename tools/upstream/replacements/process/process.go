// Package process starts `nlc controller` for a test of Kubernetes, in place of a controller in the test's own process.
package process

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	restclient "k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
	testutils "k8s.io/kubernetes/test/integration/util"
)

const (
	// commandVariable names the environment variable with the command as a JSON array of words.
	commandVariable = "NLC_UPSTREAM_COMMAND"
	// logsVariable names the environment variable with the folder of the logs.
	logsVariable = "NLC_UPSTREAM_LOGS"
	// killAfter is the time after SIGTERM until SIGKILL.
	killAfter = 10 * time.Second
)

type configKey struct{}

var started atomic.Int32

// WithKubeConfig adds the connection of the test's API server to the context of the test, for Run.
func WithKubeConfig(testCtx *testutils.TestContext) *testutils.TestContext {
	testCtx.Ctx = context.WithValue(testCtx.Ctx, configKey{}, testCtx.KubeConfig)
	return testCtx
}

// Run runs `nlc controller` with these controllers and flags until the context is done. An end before that is logged as an
// error; the test then fails by what does not happen. It panics if the process cannot be started.
func Run(ctx context.Context, controllers string, flags ...string) {
	config, ok := ctx.Value(configKey{}).(*restclient.Config)
	if !ok {
		panic("the context has no connection: the test did not call WithKubeConfig")
	}
	folder, err := os.MkdirTemp("", "nlc-upstream-")
	if err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := writeKubeconfig(kubeconfig, config); err != nil {
		panic(err)
	}
	cmd := command(ctx, append(commonFlags(kubeconfig, controllers), flags...))
	err = cmd.Run()
	if cmd.Process == nil {
		panic(err)
	}
	if ctx.Err() == nil {
		klog.Errorf("nlc controller ended during the test: %v", err)
	}
}

func commonFlags(kubeconfig, controllers string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--controllers=" + controllers,
		// The tests' own clients have no limit.
		"--kube-api-qps=1000",
		"--kube-api-burst=1000",
		"--leader-elect=false",
		"--metrics-bind-address=0",
		"--health-probe-bind-address=0",
		"--v=4",
	}
}

func command(ctx context.Context, flags []string) *exec.Cmd {
	var words []string
	if err := json.Unmarshal([]byte(os.Getenv(commandVariable)), &words); err != nil || len(words) == 0 {
		panic(fmt.Sprintf("%s must be a JSON array of words: %v", commandVariable, err))
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = killAfter
	// The process ends with the test binary, even if that is killed.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	name := filepath.Join(os.Getenv(logsVariable), fmt.Sprintf("%d-%d.log", os.Getpid(), started.Add(1)))
	log, err := os.Create(name)
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(log, strings.Join(cmd.Args, " "))
	cmd.Stdout, cmd.Stderr = log, log
	return cmd
}

func writeKubeconfig(file string, config *restclient.Config) error {
	content := clientcmdapi.Config{
		CurrentContext: "test",
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		Clusters: map[string]*clientcmdapi.Cluster{"test": {
			Server:                   config.Host,
			TLSServerName:            config.ServerName,
			CertificateAuthority:     config.CAFile,
			CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{"test": {Token: config.BearerToken}},
	}
	return clientcmd.WriteToFile(content, file)
}
