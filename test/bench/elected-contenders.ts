// The two controllers with leader election on a control plane, for benches of what happens without a leader.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { controllerManagerArguments } from '../control-plane/program-arguments.ts';
import type { RestClient } from '../control-plane/rest-client.ts';
import { buildNlc, imageCommand } from './build-nlc.ts';

interface Lease {
  readonly spec?: { readonly holderIdentity?: string };
}

export interface ElectedContender {
  readonly name: string;
  /** Of leader election. */
  readonly lease: string;
  /** `port`: of its health page. */
  readonly command: (plane: ControlPlane, port: number) => readonly [string, ...string[]];
}

/** Both with the default election, this grace period and no other controllers. */
export function electedContenders(graceSeconds: number): readonly ElectedContender[] {
  const commonFlags = [
    '--controllers=node-lifecycle-controller,taint-eviction-controller',
    '--leader-elect=true',
    `--node-monitor-grace-period=${graceSeconds}s`,
  ];
  return [
    {
      name: 'kube-controller-manager',
      lease: 'kube-controller-manager',
      command: (plane, port) => {
        const { kubeconfigFile, serviceAccountKeyFile, caFile, folder, binaries } = plane;
        const certificateFolder = join(folder, `kube-controller-manager-${port}`);
        const files = { kubeconfigFile, serviceAccountKeyFile, caFile, certificateFolder };
        return [binaries.kubeControllerManager, ...controllerManagerArguments(files, port), ...commonFlags];
      },
    },
    {
      name: 'nlc',
      lease: 'node-lifecycle-controller',
      command: (plane, port) => {
        const pages = ['--metrics-bind-address=127.0.0.1:0', `--health-probe-bind-address=127.0.0.1:${port}`];
        const flags = ['controller', `--kubeconfig=${plane.kubeconfigFile}`, ...commonFlags, ...pages];
        return imageCommand(builtNlc(plane.folder), flags) as [string, ...string[]];
      },
    },
  ];
}

/** Built once for each control plane. */
function builtNlc(folder: string): string {
  const script = join(folder, 'dist', 'nlc.js');
  return existsSync(script) ? script : buildNlc(folder);
}

/** Undefined: the lease is free or missing, or the API server does not answer. */
export async function holderOf(
  client: RestClient,
  { lease }: Pick<ElectedContender, 'lease'>,
): Promise<string | undefined> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${lease}`;
  const answer = await client.send<Lease>('GET', path).catch(() => undefined);
  return answer?.status === 200 ? answer.body.spec?.holderIdentity || undefined : undefined;
}
