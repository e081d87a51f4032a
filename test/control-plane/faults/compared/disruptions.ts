// A monitor pass that evaluates no node, and the end of a full disruption.
import assert from 'node:assert/strict';
import { graceMs, type Scene, tolerating, unreachable } from '../scene.ts';
import type { ComparedScenario } from './compared-scenario.ts';
import { secondsUntil, secondsUntilUnknown } from './seconds-until.ts';

const promptMs = 5_000;
/** Time for writes to as many nodes as one scenario has, on a busy machine. */
const writesMs = 30_000;
const evicting = 'unreachable:NoExecute';
const watchOfLeases = /\/leases\?.*watch=/;

async function isTainted(scene: Scene, node: string): Promise<boolean> {
  return (await scene.cluster.taints(node)).includes(evicting);
}

async function silence(scene: Scene, nodes: readonly string[]): Promise<void> {
  for (const node of nodes) scene.cluster.stopHeartbeats(node);
  for (const node of nodes) await scene.untilUnknown(node, graceMs + writesMs);
}

/** All nodes that are alive stop, and the full disruption begins: without NoExecute taints. */
async function disrupt(scene: Scene, nodes: readonly string[]): Promise<void> {
  await silence(scene, nodes);
  await scene.within(writesMs, 'no node is tainted NoExecute', async () => {
    const tainted = await Promise.all(nodes.map((node) => isTainted(scene, node)));
    return !tainted.includes(true);
  });
}

/** The value of a gauge for zone `r/ZONE`, which kube-controller-manager writes with a NUL byte. */
async function gaugeOf(scene: Scene, gauge: string, zone: string): Promise<number> {
  const line = (await scene.metrics())
    .split('\n')
    .find((text) => text.startsWith(`${gauge}{`) && new RegExp(`[:/]${zone}"`).test(text));
  return Number(line?.split(' ').at(-1) ?? assert.fail(`${gauge} of ${zone}`));
}

const rateSeconds = 20;
/** After the first taint, kube-controller-manager's first pass that evaluates nothing, and two more. */
const skippedMs = graceMs + 3_500;

const skippedPass: ComparedScenario = {
  title:
    'limitation 38: nodes that are not evaluated for a while stay in the metrics of their zone, and the rate holds',
  nodes: Object.fromEntries(['a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'c0', 'c1'].map((name) => [name, name.slice(0, 1)])),
  args: [`--node-eviction-rate=${1 / rateSeconds}`],
  async play(scene, measure) {
    const [, next] = await untilFirstTaint(scene, ['a0', 'a1']);
    const fromMs = performance.now();
    const frozen = scene.proxy.freezeAnswers(watchOfLeases);
    await scene.sleep(skippedMs);
    const size = await gaugeOf(scene, 'node_collector_zone_size', 'a');
    measure('zone_size meanwhile', size);
    measure('zone_health meanwhile', await gaugeOf(scene, 'node_collector_zone_health', 'a'));
    frozen.cut();
    await scene.within(2_000 * rateSeconds, `${next} is tainted`, () => isTainted(scene, next));
    const seconds = (performance.now() - fromMs) / 1_000;
    measure(`s between two taints of the zone, at one in ${rateSeconds} s`, seconds);
    return { size, isEarly: seconds < rateSeconds - 2 };
  },
  facts: {
    'kube-controller-manager': { size: 0, isEarly: true },
    nlc: { size: 5, isEarly: false },
  },
};

/** Two nodes stop; the one that is tainted first is deleted, as by a cluster autoscaler. Returns both in the order of their taints. */
async function untilFirstTaint(
  scene: Scene,
  [one, other]: readonly [string, string],
): Promise<readonly [string, string]> {
  for (const node of [one, other]) scene.cluster.stopHeartbeats(node);
  await scene.within(writesMs, 'one node is tainted', async () => {
    return (await isTainted(scene, one)) || isTainted(scene, other);
  });
  const [first, next] = (await isTainted(scene, one)) ? [one, other] : [other, one];
  await scene.cluster.removeNode(first);
  return [first, next];
}

const startupGraceMs = 14_000;

function joiningNode(isBehind: boolean): ComparedScenario['play'] {
  return async (scene, measure) => {
    await disrupt(scene, ['a0', 'b0']);
    await scene.cluster.addNode('joining', 'b', { posts: false });
    const addedAtMs = performance.now();
    await scene.sleep(4_000);
    const frozen = isBehind ? scene.proxy.freezeAnswers(watchOfLeases) : undefined;
    await scene.cluster.renewAgain('a0');
    await scene.sleep(3_000);
    await scene.cluster.resumeHeartbeats('a0');
    await scene.sleep(500);
    frozen?.cut();
    const endedAtMs = performance.now();
    await secondsUntilUnknown(scene, 'joining', 2 * startupGraceMs + promptMs);
    const nowMs = performance.now();
    measure('s from its creation until the joining node was Unknown', (nowMs - addedAtMs) / 1_000);
    return { hasFreshGracePeriod: nowMs - endedAtMs > startupGraceMs - 3_000 };
  };
}

const startupArgs = [`--node-startup-grace-period=${startupGraceMs}ms`];

const lostGrace: ComparedScenario = {
  title:
    'limitation 39: every node has a full grace period after a full disruption, though its end was not seen at once',
  nodes: { a0: 'a', b0: 'b' },
  args: startupArgs,
  play: joiningNode(true),
  facts: {
    'kube-controller-manager': { hasFreshGracePeriod: false },
    nlc: { hasFreshGracePeriod: true },
  },
};

const keptGrace: ComparedScenario = {
  title: 'every node has a full grace period after a full disruption',
  nodes: { a0: 'a', b0: 'b' },
  args: startupArgs,
  play: joiningNode(false),
  facts: {
    'kube-controller-manager': { hasFreshGracePeriod: true },
    nlc: { hasFreshGracePeriod: true },
  },
};

const ten = Array.from({ length: 10 }, (_, index) => index);
const recovering = ten.map((index) => `recovering-${index}`);
const dead = [...ten, 10, 11].map((index) => `dead-${index}`);
const zoneOfNode = (name: string): string => `zone-${Number(name.split('-')[1]) % 3}`;

const recoveryWithNewNodes: ComparedScenario = {
  title:
    'limitation 40: a full disruption ends although new nodes were not evaluated while the watch of leases is behind',
  nodes: Object.fromEntries([...recovering, ...dead, 'late-0'].map((name) => [name, zoneOfNode(name)])),
  args: ['--node-monitor-period=5s', '--kube-api-qps=100', '--kube-api-burst=100'],
  async play(scene, measure) {
    // Where a pass begins in the middle of it, there is no crash.
    const attempts = scene.controllerName === 'nlc' ? 1 : 3;
    let ended: number | undefined;
    for (let attempt = 1; attempt <= attempts && ended === undefined; attempt += 1)
      ended = await recoverBehind(scene, attempt);
    measure('s until the process ended', ended);
    return {
      crashed: ended !== undefined,
      hasPanicked: /nil pointer dereference[\s\S]*handleDisruption/.test(scene.log),
    };
  },
  facts: {
    'kube-controller-manager': { crashed: true, hasPanicked: true },
    nlc: { crashed: false, hasPanicked: false },
  },
};

/**
 * In one moment between two passes of a full disruption nodes recover by their statuses, others join, and one renews its lease
 * unseen. Seconds until the controller ended, if it did.
 */
async function recoverBehind(scene: Scene, attempt: number): Promise<number | undefined> {
  await silence(scene, [...recovering, ...dead, 'late-0']);
  const frozen = scene.proxy.freezeAnswers(watchOfLeases);
  // Keeps the workers of a pass busy, so that it evaluates some nodes after it has found the cache to be behind.
  const slow = scene.proxy.inject({ methods: ['GET'], path: /\/leases\/dead-/, fault: { kind: 'delay', ms: 400 } });
  await betweenPasses(scene);
  await Promise.all([
    scene.cluster.renewAgain('late-0'),
    ...recovering.map((name) => scene.cluster.post(name, {})),
    ...ten.map((index) => scene.cluster.addNode(`new-${attempt}-${index}`, `zone-${index % 3}`, { posts: false })),
  ]);
  const ended = await secondsUntil(12_000, () => scene.controllerHasEnded);
  frozen.cut();
  slow.remove();
  return ended;
}

const quietMs = 900;

/** Returns when kube-controller-manager's pass has ended: it has read leases, and reads no more. */
async function betweenPasses(scene: Scene): Promise<void> {
  const lastReadMs = (): number | undefined =>
    scene.proxy.requests.findLast(({ path }) => /\/leases\/dead-/.test(path))?.atMs;
  // A controller that reads no lease again has no such pass, and any time is as good.
  await secondsUntil(2 * promptMs, () => performance.now() - (lastReadMs() ?? 0) < quietMs);
  await scene.within(promptMs, 'its end', () => performance.now() - (lastReadMs() ?? 0) >= quietMs);
}

const flaps = 2;

/** The node recovers for three seconds, and is silent again. Seconds until the dead node was tainted; undefined if it was not. */
async function flapOnce(scene: Scene, flapping: string, deadNode: string): Promise<number | undefined> {
  await scene.cluster.resumeHeartbeats(flapping);
  const fromMs = performance.now();
  const tainted = await secondsUntil(graceMs, () => isTainted(scene, deadNode));
  await scene.sleep(Math.max(0, 3_000 - (performance.now() - fromMs)));
  await disrupt(scene, [flapping]);
  await scene.within(promptMs, `${deadNode} is free of it`, async () => !(await isTainted(scene, deadNode)));
  return tainted;
}

const flappingNode: ComparedScenario = {
  title:
    'a node that flaps out of a full disruption does not keep dead nodes from being tainted, and tolerations begin again',
  nodes: { a0: 'a', b0: 'b', b1: 'b' },
  ownArgs: ['--control-plane-path-failure-hold=0s'],
  pods: [['twelve-seconds', 'b0', [tolerating(unreachable, 12)]]],
  async play(scene, measure) {
    await disrupt(scene, ['a0', 'b0', 'b1']);
    let tainted = 0;
    for (let flap = 1; flap <= flaps; flap += 1) {
      const seconds = await flapOnce(scene, 'a0', 'b0');
      measure(`s until the dead node was tainted, flap ${flap}`, seconds);
      if (seconds !== undefined) tainted += 1;
    }
    return { tainted, isDeleted: scene.deletedAtMs('twelve-seconds') !== undefined };
  },
  facts: {
    'kube-controller-manager': { tainted: flaps, isDeleted: false },
    nlc: { tainted: flaps, isDeleted: false },
  },
};

export const disruptionScenarios: readonly ComparedScenario[] = [
  skippedPass,
  lostGrace,
  keptGrace,
  recoveryWithNewNodes,
  flappingNode,
];
