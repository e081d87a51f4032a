// `npm run bench:commands`: how long a person waits for `nlc status`, for the completion of names by the plugin, and for a simulation;
// of the bundle, against a controller on a control plane with three nodes (docs/performance.md). Needs the control plane
// (`npm run control-plane`). Figures are printed and not checked.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts } from '../../src/cli/simulation/programs/free-ports.ts';
import { type ControlPlane, startControlPlane } from '../control-plane/control-plane.ts';
import { waitUntil } from '../control-plane/wait-until.ts';
import { buildNlc, imageCommand } from './build-nlc.ts';
import { describeMachine } from './describe-machine.ts';
import { FewNodes } from './few-nodes.ts';
import { percentile } from './percentile.ts';

const nodes = ['worker-1', 'worker-2', 'worker-3'];
const readyTimeoutMs = 60_000;
const scenario = join(import.meta.dirname, '..', '..', 'scenarios', 'zone.yaml');
const run = promisify(execFile);

interface Command {
  readonly title: string;
  readonly args: readonly string[];
  readonly times: number;
  /** Text of its output: that it did what is measured. */
  readonly shows: string;
}

await using plane = await startControlPlane({
  apiServerArgs: ['--disable-admission-plugins=ServiceAccount,TaintNodesByCondition'],
});
const kubelets = new FewNodes(plane.client());
for (const node of nodes) await kubelets.register(node);
const script = buildNlc(plane.folder);
const server = await startController(plane, script);
const env = { HOME: plane.folder, PATH: process.env['PATH'], KUBECONFIG: plane.kubeconfigFile };
const commands: readonly Command[] = [
  { title: 'Node.js with an empty program', args: ['-e', 'console.log(1)'], times: 21, shows: '1' },
  { title: '`nlc status`', args: [script, 'status', `--server=${server}`], times: 21, shows: 'leading' },
  {
    title: 'completion of the names of nodes',
    args: [script, 'kubectl', '__complete', 'explain', 'node/'],
    times: 21,
    shows: 'node/worker-2',
  },
  {
    title: '`nlc simulate scenarios/zone.yaml`',
    args: [script, 'simulate', scenario],
    times: 5,
    shows: 'r/a   normal',
  },
];
console.log(`${describeMachine()}\n\n| command | seconds |\n| --- | ---: |`);
for (const command of commands) console.log(`| ${command.title} | ${await measure(command)} |`);

async function measure({ args, times, shows }: Command): Promise<string> {
  const seconds: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const startedAtMs = performance.now();
    const { stdout } = await run(process.execPath, args, { env });
    seconds.push((performance.now() - startedAtMs) / 1_000);
    if (!stdout.includes(shows)) throw new Error(`${args.join(' ')}: no ${JSON.stringify(shows)} in:\n${stdout}`);
  }
  const [median, least, most] = [percentile(seconds, 0.5), Math.min(...seconds), Math.max(...seconds)];
  return `${median.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`;
}

/** Returns the address of its pages once it leads. */
async function startController(cluster: ControlPlane, bundle: string): Promise<string> {
  const [metrics = 0, health = 0] = await freePorts(2);
  const pages = [`--metrics-bind-address=127.0.0.1:${metrics}`, `--health-probe-bind-address=127.0.0.1:${health}`];
  const [program, ...args] = imageCommand(bundle, ['controller', `--kubeconfig=${cluster.kubeconfigFile}`, ...pages]);
  await cluster.startProgram('nlc', program, args);
  const url = `http://127.0.0.1:${metrics}`;
  await waitUntil('a leader', { timeoutMs: readyTimeoutMs }, async () => {
    const { stdout } = await run(process.execPath, [bundle, 'status', `--server=${url}`]).catch(() => ({ stdout: '' }));
    return stdout.startsWith('leading');
  });
  return url;
}
