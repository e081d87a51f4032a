// `npm run test:cluster`: makes a cluster of real kubelets on this machine, installs the controller as docs/install.md says, and runs
// stories of faults on it. Exit codes: 0 every story held, 1 one did not, 2 usage or this machine cannot.
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatTimes } from './format-times.ts';
import { documentedBlock } from './documented-blocks.ts';
import type { ClusterNode } from './machine/cluster-node.ts';
import { absentHierarchies, hasUnifiedControlGroups } from './machine/control-groups.ts';
import { describeMissing } from './machine/describe-missing.ts';
import { buildPrograms } from './machine/programs.ts';
import { RealCluster } from './machine/real-cluster.ts';
import { runProgram } from './machine/run-program.ts';
import { clusterSettings, withoutReplaced } from './machine/settings.ts';
import { type ClusterOptions, parseClusterOptions, usage } from './options.ts';
import { orderStories, runStories, type StoryRun, type StoryTurn } from './run-stories.ts';
import { Stage } from './stage.ts';
import { Timeline } from './timeline.ts';

const root = join(import.meta.dirname, '..', '..');
const needed = ['go', 'gcc', 'ip', 'iptables', 'nsenter', 'unshare', 'openssl', 'tar', 'conntrack', 'ipset'];
/** As docs/install.md says. */
const importCommands = documentedBlock('Without a registry', 'ctr ');
const imageName = 'registry.example.com/node-lifecycle-controller:0.1.0';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  let options: ClusterOptions;
  try {
    options = parseClusterOptions(args);
  } catch (error) {
    say(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    return 2;
  }
  const missing = whatIsMissing();
  if (missing !== undefined) return cannot(missing, options);
  let programs: string;
  try {
    programs = await buildAll();
  } catch (error) {
    return cannot(error instanceof Error ? error.message : String(error), options);
  }
  return options.onlyBuild ? 0 : run(options, programs);
}

function cannot(why: string, { optional }: ClusterOptions): number {
  say(`${optional ? 'the stories on a real cluster are SKIPPED' : 'this machine cannot'}: ${why}`);
  return optional ? 0 : 2;
}

/** The image as it is in the sources now, and the programs of the cluster; the folder of these. */
async function buildAll(): Promise<string> {
  say('building the image');
  await runProgram(process.execPath, [join(root, 'tools', 'packaging', 'image', 'image.ts')]);
  return buildPrograms(say);
}

function whatIsMissing(): string | undefined {
  return describeMissing({
    platform: process.platform,
    isRoot: process.getuid?.() === 0,
    isUnified: hasUnifiedControlGroups(),
    absentHierarchies: absentHierarchies(),
    absentPrograms: needed.filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0),
  });
}

async function run(options: ClusterOptions, programs: string): Promise<number> {
  const clusters = options.prefixes.map((prefix) => newCluster(prefix, programs));
  const down = async (): Promise<unknown> => Promise.all(clusters.map((cluster) => cluster.down()));
  const end = (): void => void down().finally(() => process.exit(1));
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end);
  let held = false;
  try {
    held = await runOn(clusters, options);
  } catch (error) {
    say(`failed: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (options.keep) await wait(clusters);
  await down();
  for (const cluster of clusters)
    if (held) cluster.remove();
    else say(`logs are in ${cluster.settings.folder}`);
  return held ? 0 : 1;
}

function newCluster(prefix: string, programs: string): RealCluster {
  const folder = mkdtempSync(join(tmpdir(), `${prefix}-cluster-`));
  return new RealCluster(clusterSettings(prefix, folder, programs), withoutReplaced);
}

/** Whether every story held. Each cluster takes the next story when it is done with one. */
async function runOn(clusters: readonly RealCluster[], options: ClusterOptions): Promise<boolean> {
  for (const cluster of clusters) await start(cluster);
  const queue = orderStories(options);
  const ends = await Promise.allSettled(clusters.map(async (cluster) => takeStories(cluster, queue)));
  const broken = ends.filter((end) => end.status === 'rejected').map(({ reason }) => String(reason));
  const runs = ends.flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
  const placeOf = (name: string): number => options.stories.findIndex((story) => story.name === name);
  const inOrder = runs.toSorted((a, b) => placeOf(a.story) - placeOf(b.story));
  const failures = inOrder.filter(({ failure }) => failure !== undefined).map(describeFailure);
  say(`seconds, median (least to most, rounds)\n${formatTimes(inOrder)}`);
  const wrong = [...broken, ...failures, ...queue.map(({ story }) => `story ${story.name} was not run`)];
  say(wrong.length === 0 ? 'every story held' : wrong.join('\n'));
  return wrong.length === 0;
}

async function start(cluster: RealCluster): Promise<void> {
  say(`starting a cluster in ${cluster.settings.folder}`);
  await cluster.up();
  for (const node of Object.values(cluster.nodes)) await importImage(node, cluster.settings.programs);
}

async function takeStories(cluster: RealCluster, queue: StoryTurn[]): Promise<readonly StoryRun[]> {
  const timeline = new Timeline(cluster.api, join(cluster.settings.folder, 'timeline.log'));
  try {
    return await runStories(new Stage(cluster, timeline), queue, say);
  } finally {
    timeline.close();
  }
}

/** By the documented commands, and under the name of the documented registry. */
async function importImage(node: ClusterNode, programs: string): Promise<void> {
  const listed = await node.run('sh', '-euc', `PATH=/run/bin:$PATH; cd ${root}; ${importCommands}`);
  if (!/^docker.io\/library\/node-lifecycle-controller:0\.1\.0 .*sha256:/mu.test(listed))
    throw new Error(`the image is not on ${node.name}`);
  const tag = ['images', 'tag', 'docker.io/library/node-lifecycle-controller:0.1.0', imageName];
  await node.run(join(programs, 'ctr'), '--namespace', 'k8s.io', ...tag);
}

function describeFailure({ story, actor, failure }: StoryRun): string {
  return `story ${story} (${actor}): ${failure}`;
}

/** Until it is interrupted. */
async function wait(clusters: readonly RealCluster[]): Promise<void> {
  for (const { settings } of clusters) {
    const { folder, prefix } = settings;
    say(`the cluster stays until this is interrupted.
  ${folder}/bin/kubectl get nodes; ${folder}/bin/helm list --all-namespaces
  a cable: nsenter --net=/run/netns/${prefix}-lan ip link set port-n3 down (or up)
  power:   kill -KILL $(cat ${folder}/n3/process-one.pid)
  logs:    ${folder}/n3/kubelet.log, ${folder}/control-plane, ${folder}/timeline.log`);
  }
  await new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
}

function say(text: string): void {
  console.log(`${new Date().toISOString()} ${text}`);
}
