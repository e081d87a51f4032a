// The cluster of suite e2e: etcd, kube-apiserver, kube-scheduler and kube-controller-manager as released.
import { type ControlPlane, startControlPlane } from '../../control-plane/control-plane.ts';
import { type Cluster, nodesReady, productPrograms, replacedControllers } from './cluster.ts';

/** Starts the cluster and waits until its nodes are ready. */
export async function startRealCluster(): Promise<Cluster> {
  const plane = await startControlPlane({ serviceAccounts: true, apiServerArgs: ['--allow-privileged=true'] });
  try {
    await plane.startControllerManager([
      `--controllers=${['*', ...replacedControllers.map((name) => `-${name}`)].join(',')}`,
    ]);
    await plane.startProgram('kube-scheduler', plane.binaries.kubeScheduler, schedulerArguments(plane));
    for (const { name, file, args } of productPrograms(plane.kubeconfigFile))
      await plane.startProgram(name, file, args);
    const client = plane.client();
    await nodesReady(client);
    const { kubeconfigFile, folder, binaries } = plane;
    const dispose = (): Promise<void> => plane.stop();
    return { kubeconfigFile, folder, client, kubectl: binaries.kubectl, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await plane.stop();
    throw error;
  }
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
