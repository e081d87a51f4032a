import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiObject } from '../machine/api-client.ts';
import type { ClusterNode } from '../machine/cluster-node.ts';
import type { NodeName } from '../machine/settings.ts';
import type { Stage } from '../stage.ts';
import { isServing, nodeOf } from '../timeline.ts';
import type { Story, Times } from './story.ts';

const measuredSeconds = 30;
const namespace = 'node-lifecycle-controller';
/** Of QoS Guaranteed, which the kubelet gives to pods of the class `system-node-critical`. */
const oomScore = -997;

/** What `ctr containers info` prints; a value is the request of the kubelet, as JSON in base64. */
interface ContainerInfo {
  readonly Extensions: Readonly<Record<string, { readonly value: string }>>;
}

async function run(stage: Stage): Promise<Times> {
  const { cluster } = stage;
  const leader = await stage.leaderNode();
  const pod = (await stage.controllerPods()).find((each) => isServing(each) && nodeOf(each) === leader);
  if (pod === undefined) throw new Error(`no replica serves on ${leader}`);
  const node = cluster.nodes[leader];
  const pid = await processOf(stage, pod);
  await expectConfined(node, pid);
  await expectOomScore(stage, pod);
  await expectNoWrites(stage, pod);
  await expectLogs(stage, pod);
  await expectProbes(node, pod);
  const measured = await measure(node, pid);
  await expectQuietStart(stage, pod);
  return measured;
}

/** A start leaves no Event `Unhealthy`: the first probe comes when the program listens. */
async function expectQuietStart(stage: Stage, pod: ApiObject): Promise<void> {
  const { cluster } = stage;
  const names = async (): Promise<readonly string[]> =>
    (await stage.controllerPods()).map(({ metadata }) => metadata.name ?? '');
  const before = await names();
  await cluster.kubectl('delete', 'pod', pod.metadata.name ?? '', '--namespace', namespace);
  await stage.rolledOut();
  const started = (await names()).filter((name) => !before.includes(name));
  const of = 'jsonpath={.items[*].involvedObject.name}';
  const selected = ['--namespace', namespace, '--field-selector=reason=Unhealthy', `--output=${of}`];
  const unhealthy = (await cluster.kubectl('get', 'events', ...selected)).split(' ');
  if (started.length === 0) throw new Error('no pod took the place of the one that was deleted');
  const found = started.filter((name) => unhealthy.includes(name));
  if (found.length > 0) throw new Error(`the start of ${found.join()} left an Event Unhealthy`);
}

/** Number of the process of the pod, among those of its node. */
async function processOf(stage: Stage, pod: ApiObject): Promise<number> {
  const tasks = await ctr(stage, pod, 'tasks', 'list');
  const [, pid] = new RegExp(`^${containerOf(pod)}\\s+(\\d+)`, 'mu').exec(tasks) ?? [];
  if (pid === undefined) throw new Error(`containerd has no task of ${pod.metadata.name}`);
  return Number(pid);
}

/** What containerd of the pod's node says. */
async function ctr({ cluster }: Stage, pod: ApiObject, ...args: readonly string[]): Promise<string> {
  const program = join(cluster.settings.programs, 'ctr');
  return cluster.nodes[nodeOf(pod) as NodeName].run(program, '--namespace', 'k8s.io', ...args);
}

function containerOf(pod: ApiObject): string {
  return String(pod['status']?.containerStatuses[0].containerID).replace('containerd://', '');
}

/** An unprivileged user without capabilities, confined by seccomp, on a read-only root. */
async function expectConfined(node: ClusterNode, pid: number): Promise<void> {
  const status = await node.run('cat', `/proc/${pid}/status`);
  const mounts = await node.run('cat', `/proc/${pid}/mountinfo`);
  const isReadOnly = mounts.split('\n').some((line) => / \/ \/ ro,/u.test(line));
  const wanted = { Uid: 65532, Gid: 65532, CapEff: 0, CapBnd: 0, NoNewPrivs: 1, Seccomp: 2 };
  for (const [name, value] of Object.entries(wanted))
    if (fieldOf(status, name) !== value) throw new Error(`${name} of the process is ${fieldOf(status, name)}`);
  if (!isReadOnly) throw new Error('the root of the container can be written to');
}

/** The first value of a line of /proc/PID/status. */
function fieldOf(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\S+)`, 'mu').exec(status)?.[1]);
}

/** What the kubelet asked containerd for: on a machine whose root lacks CAP_SYS_RESOURCE the process does not get it. */
async function expectOomScore(stage: Stage, pod: ApiObject): Promise<void> {
  const info = await ctr(stage, pod, 'containers', 'info', containerOf(pod));
  const extensions = Object.values((JSON.parse(info) as ContainerInfo).Extensions);
  const asked = extensions.map(({ value }) => Buffer.from(value, 'base64').toString()).join('\n');
  if (!asked.includes(`"oom_score_adj":${oomScore},`))
    throw new Error(`the kubelet did not ask for ${oomScore}: ${asked}`);
}

/** Files can be created nowhere. */
async function expectNoWrites({ cluster }: Stage, { metadata }: ApiObject): Promise<void> {
  for (const folder of ['/', '/app', '/tmp', '/etc/node-lifecycle-controller']) {
    const script = `fs.writeFileSync('${folder}/x', '')`;
    const node = ['/nodejs/bin/node', '--eval', script];
    const { code, stderr } = await cluster.tryKubectl('exec', '--namespace', namespace, metadata.name, '--', ...node);
    if (code === 0 || !/EROFS|ENOENT/u.test(stderr)) throw new Error(`a file can be written to ${folder}: ${stderr}`);
  }
}

async function expectLogs({ cluster }: Stage, { metadata }: ApiObject): Promise<void> {
  const logs = await cluster.kubectl('logs', '--namespace', namespace, metadata.name);
  const lines = logs.split('\n').filter((line) => line !== '');
  for (const line of lines) JSON.parse(line);
  if (!lines.some((line) => line.includes('leader')))
    throw new Error(`the log of the leader does not say so: ${logs.slice(0, 500)}`);
}

async function expectProbes(node: ClusterNode, pod: ApiObject): Promise<void> {
  for (const page of ['livez', 'readyz']) {
    const url = `http://${pod['status']?.podIP}:8081/${page}`;
    const script = `process.stdout.write(String((await fetch('${url}')).status))`;
    const status = await node.run(process.execPath, '--input-type=module', '--eval', script);
    if (status !== '200') throw new Error(`${page} answers ${status}`);
  }
  const restartCount = Number(pod['status']?.containerStatuses[0].restartCount);
  if (restartCount !== 0) throw new Error(`the container was restarted ${restartCount} times`);
}

async function measure(node: ClusterNode, pid: number): Promise<Times> {
  const before = await cpuSeconds(node, pid);
  await sleep(measuredSeconds * 1_000);
  const millicores = Math.round((1_000 * ((await cpuSeconds(node, pid)) - before)) / measuredSeconds);
  const status = await node.run('cat', `/proc/${pid}/status`);
  const megabytes = (name: string): number => Math.round((fieldOf(status, name) * 1_024) / 1e6);
  return { 'CPU [ms/s]': millicores, 'RSS [MB]': megabytes('VmRSS'), 'RSS, most [MB]': megabytes('VmHWM') };
}

/** User and system time of a process, of which the kernel counts hundredths. */
async function cpuSeconds(node: ClusterNode, pid: number): Promise<number> {
  const stat = await node.run('cat', `/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

export const container: Story = {
  name: 'container',
  about:
    'how the container of the leader runs: user, capabilities, read-only root, OOM score, probes, logs, CPU and memory',
  isComparable: false,
  run,
  // The limit of its memory is 537 MB, and its request of CPU 100 millicores.
  limits: { 'CPU [ms/s]': 100, 'RSS [MB]': 150, 'RSS, most [MB]': 200 },
};
