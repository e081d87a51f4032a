// The two controllers, started with the same flags on the same control plane.
import { existsSync, readFileSync } from 'node:fs';
import type { ControlPlane } from '../../control-plane/control-plane.ts';
import type { RestClient } from '../../control-plane/rest-client.ts';
import { imageCommand } from '../build-nlc.ts';

export const contenders = ['kube-controller-manager', 'nlc'] as const;
export type Contender = (typeof contenders)[number];

/** A running controller. */
export interface Running {
  readonly pid: number;
  /** Throws if the process has ended. */
  check(): void;
  stop(): Promise<void>;
}

interface StartOptions {
  readonly plane: ControlPlane;
  readonly client: RestClient;
  /** The bundle of nlc. */
  readonly script: string;
  readonly graceMs: number;
}

const leaderLeases = ['kube-controller-manager', 'node-lifecycle-controller'] as const;
const evictionRate = 100;
const logTailLines = 20;

/** The flags that both have. */
function commonFlags(graceMs: number): readonly string[] {
  return [
    '--controllers=node-lifecycle-controller,taint-eviction-controller',
    '--leader-elect=true',
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
    `--node-monitor-grace-period=${graceMs / 1_000}s`,
    `--node-eviction-rate=${evictionRate}`,
    `--secondary-node-eviction-rate=${evictionRate}`,
  ];
}

/** kube-controller-manager marks the pods of all silent nodes at once; here the rate of the taints applies to both. */
const nlcFlags = [
  `--pod-marking-rate=${evictionRate}`,
  '--metrics-bind-address=127.0.0.1:0',
  '--health-probe-bind-address=127.0.0.1:0',
];

/** Starts a controller that acquires leadership at once. */
export async function startContender(contender: Contender, options: StartOptions): Promise<Running> {
  await deleteLeaderLeases(options.client);
  return contender === 'nlc' ? startNlc(options) : startControllerManager(options);
}

async function startControllerManager({ plane, graceMs }: StartOptions): Promise<Running> {
  const manager = await plane.startControllerManager(commonFlags(graceMs));
  const { pid, logFile } = manager;
  return { pid, check: () => assertRunning(pid, logFile), stop: () => manager.stop() };
}

async function startNlc({ plane, script, graceMs }: StartOptions): Promise<Running> {
  const args = ['controller', `--kubeconfig=${plane.kubeconfigFile}`, ...commonFlags(graceMs), ...nlcFlags];
  const [program, ...rest] = imageCommand(script, args);
  const run = await plane.startProgram('nlc', program, rest);
  return { pid: run.pid, check: () => assertRunning(run.pid, run.logFile), stop: () => run.kill() };
}

function assertRunning(pid: number, logFile: string): void {
  if (existsSync(`/proc/${pid}`)) return;
  const lines = readFileSync(logFile, 'utf8').trimEnd().split('\n');
  throw new Error(['the controller has ended; the end of its log:', ...lines.slice(-logTailLines)].join('\n  '));
}

/** A killed leader leaves its lease, for which the next one would wait. */
async function deleteLeaderLeases(client: RestClient): Promise<void> {
  for (const name of leaderLeases)
    await client.send('DELETE', `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${name}`);
}
