// kube-router, of which only the part that enforces network policies is used: the cluster's own network enforces none.
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildOnce } from './programs.ts';
import { runProgram } from './run-program.ts';
import type { ClusterNode } from './cluster-node.ts';
import type { ClusterSettings } from './settings.ts';

const version = 'v2.1.0';
const module = 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router';

/** Builds it if it is missing, which takes minutes, and returns its file. */
export async function buildKubeRouter({ programs }: ClusterSettings): Promise<string> {
  return buildOnce(join(programs, `kube-router-${version}`), async (unfinished) => {
    const folder = mkdtempSync(join(programs, 'unfinished-'));
    const env = { ...process.env, CGO_ENABLED: '0', GOBIN: folder, GOFLAGS: '' };
    await runProgram('go', ['install', '-trimpath', '-ldflags=-s -w', `${module}@${version}`], { env });
    renameSync(join(folder, 'kube-router'), unfinished);
    rmSync(folder, { recursive: true, force: true });
  });
}

/** Runs on a node until it is stopped, or the node is. */
export async function enforce(node: ClusterNode, program: string, { folder, network }: ClusterSettings): Promise<void> {
  const flags = [
    '--run-router=false',
    '--run-service-proxy=false',
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    `--hostname-override=${node.name}`,
    `--service-cluster-ip-range=${network.services}.0.0/16`,
    '--enable-cni=false',
    '--health-port=0',
  ];
  await node.start('kube-router', program, flags);
}

/** Ends it, and removes its rules, which would deny on. Its own command for that needs the module ip_vs. */
export async function enforceNoMore(node: ClusterNode): Promise<void> {
  await node.stop('kube-router');
  const lines = [
    'iptables-save --table filter | grep -v -e KUBE-ROUTER- -e KUBE-NWPLCY- -e KUBE-POD-FW- | iptables-restore --wait --table filter',
    'for each in $(ipset list -name | grep -e ^KUBE-SRC- -e ^KUBE-DST-); do ipset destroy $each; done',
  ];
  await node.run('sh', '-euc', lines.join('\n'));
}
