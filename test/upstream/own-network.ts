// A network of its own (a network namespace) in which the addresses of hollow nodes lead to this machine, so that
// kube-apiserver reaches their kubelets: it forwards to no loopback address. It has no other interface than loopback, which has the
// default route and an address of documentation, because kube-apiserver does not start without them.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Guard } from '../../src/cli/programs/guard.ts';

/** Addresses of hollow nodes. */
const nodeAddresses = '10.64.0.0/10';
const marker = 'NLC_UPSTREAM_OWN_NETWORK';
const ownAddress = '192.0.2.1/32';
const prepare = [
  'ip link set lo up',
  `ip addr add ${ownAddress} dev lo`,
  'ip route add default dev lo',
  `ip route add local ${nodeAddresses} dev lo`,
].join(' && ');
const unshare = ['--map-root-user', '--net', '/bin/sh', '-c'] as const;

export function isInOwnNetwork(): boolean {
  return process.env[marker] !== undefined;
}

/** Needs `unshare` and `ip`, and a kernel that lets this user create a namespace. */
export function canHaveOwnNetwork(): boolean {
  return spawnSync('unshare', [...unshare, prepare], { stdio: 'ignore' }).status === 0;
}

/** Runs this program again in such a network, with the same arguments. Resolves with its exit code. */
export async function runAgainInOwnNetwork(): Promise<number> {
  const guard = new Guard(mkdtempSync(join(tmpdir(), 'nlc-upstream-network-')));
  // The shell and unshare become the program: it has the process id of the child.
  const args = [...unshare, `${prepare} && exec "$0" "$@"`, process.execPath, ...process.argv.slice(1)];
  const child = spawn('unshare', args, { stdio: 'inherit', env: { ...process.env, [marker]: 'yes' } });
  if (child.pid !== undefined) guard.add(child.pid);
  // The program ends what it started, and then itself. A terminal sends SIGINT to both.
  const forward = (): void => void child.kill('SIGTERM');
  const ignore = (): void => {};
  process.on('SIGTERM', forward).on('SIGINT', ignore);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => resolve(code ?? 1));
    });
  } finally {
    process.off('SIGTERM', forward).off('SIGINT', ignore);
    await guard.dismiss();
  }
}
