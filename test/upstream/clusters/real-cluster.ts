// The cluster of suite e2e: etcd, kube-apiserver, kube-scheduler and kube-controller-manager as released.
import { type ControlPlane, startControlPlane } from '../../control-plane/control-plane.ts';
import { ClientAuthority } from './client-authority.ts';
import { type Cluster, nodesReady, productPrograms, replacedControllers } from './cluster.ts';

/** Off by default in kube-controller-manager; clusters made by kubeadm have them. */
const bootstrapControllers = ['bootstrap-signer-controller', 'token-cleaner-controller'] as const;

/** Starts the cluster and waits until its nodes are ready. */
export async function startRealCluster(): Promise<Cluster> {
  const authority = await ClientAuthority.write();
  try {
    const plane = await startControlPlane({
      serviceAccounts: true,
      apiServerArgs: ['--allow-privileged=true', `--client-ca-file=${authority.certFile}`],
    });
    return await startPrograms(plane, authority);
  } catch (error) {
    authority.remove();
    throw error;
  }
}

async function startPrograms(plane: ControlPlane, authority: ClientAuthority): Promise<Cluster> {
  try {
    const client = plane.client();
    await client.must('POST', '/api/v1/namespaces/kube-public/configmaps', clusterInfo());
    await plane.startControllerManager(controllerManagerArguments(authority));
    await plane.startProgram('kube-scheduler', plane.binaries.kubeScheduler, schedulerArguments(plane));
    for (const { name, file, args } of productPrograms(plane.kubeconfigFile))
      await plane.startProgram(name, file, args);
    await nodesReady(client);
    const { kubeconfigFile, folder, binaries } = plane;
    const dispose = async (): Promise<void> => {
      await plane.stop();
      authority.remove();
    };
    return { kubeconfigFile, folder, client, kubectl: binaries.kubectl, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

/** The ConfigMap that kubeadm creates and the bootstrap signer signs. Its kubeconfig is signed as text; no test connects by it. */
function clusterInfo(): object {
  const kubeconfig = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [] });
  return { metadata: { name: 'cluster-info' }, data: { kubeconfig } };
}

function controllerManagerArguments({ certFile, keyFile }: ClientAuthority): readonly string[] {
  const controllers = ['*', ...bootstrapControllers, ...replacedControllers.map((name) => `-${name}`)];
  return [
    `--controllers=${controllers.join(',')}`,
    `--cluster-signing-cert-file=${certFile}`,
    `--cluster-signing-key-file=${keyFile}`,
  ];
}

function schedulerArguments({ kubeconfigFile }: ControlPlane): readonly string[] {
  const connections = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
  return [
    ...connections.map((flag) => `--${flag}=${kubeconfigFile}`),
    '--bind-address=127.0.0.1',
    '--secure-port=0',
    '--leader-elect=false',
  ];
}
