// The loss of a zone: a third of the nodes less 20 become silent at the same moment.
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../control-plane/wait-until.ts';
import { acceptedWrites } from './accepted-writes.ts';
import { burstLimits } from './assess-saturation.ts';
import { nodeNames, zoneOf, zones } from './cluster-names.ts';
import type { Episode } from './episode.ts';
import type { FigureCollector } from './figures.ts';
import { shortGraceMs } from './plan.ts';
import type { Stand } from './stand.ts';

/** These nodes of the zone stay, so that it is not fully disrupted. */
const remainingNodes = 20;
const completionTimeoutMs = 240_000;
/** Also of those that change nothing, of which the observer sees nothing. */
const podStatus = /resource="pods".*subresource="status"/u;
/** For pods that are marked a second time. */
const settleMs = 5_000;

/** Loses one zone after another. */
export async function measureZoneLoss(stand: Stand, collector: FigureCollector): Promise<void> {
  for (let loss = 0; loss < stand.plan.zoneLosses; loss += 1)
    await loseNodes(stand, nodesOf(stand.plan.nodes, loss), collector);
}

/** The same writes for one zone, of a client that has nothing to decide, while no controller runs. */
export async function measurePlainClient(stand: Stand, collector: FigureCollector): Promise<void> {
  const { load, observer, plan } = stand;
  const nodes = nodesOf(plan.nodes, 0);
  await load.figures();
  const episode = observer.begin(nodes, plan.podsPerNode);
  const heartbeatAtMs = await load.silence(nodes);
  const expiries = Object.entries(heartbeatAtMs).map(([node, atMs]) => [node, atMs + shortGraceMs] as const);
  const lastExpiryMs = Math.max(...expiries.map(([, atMs]) => atMs));
  const { nodesMs, podsMs } = await load.mark(Object.fromEntries(expiries));
  const values = { plainNode: (nodesMs - lastExpiryMs) / 1_000, plainPod: (podsMs - lastExpiryMs) / 1_000 };
  collector.add(values, await load.figures(), burstLimits);
  await load.unmark(nodes);
  await stand.recover([episode]);
}

/** All but {@link remainingNodes} of a zone. */
function nodesOf(count: number, loss: number): readonly string[] {
  const zone = zones[loss % zones.length];
  return nodeNames(count)
    .filter((node) => zoneOf(node) === zone)
    .slice(remainingNodes);
}

async function loseNodes(stand: Stand, nodes: readonly string[], collector: FigureCollector): Promise<void> {
  const { load, observer, plan } = stand;
  await load.figures();
  const episode = observer.begin(nodes, plan.podsPerNode);
  const writesBefore = await acceptedWrites(stand.client, podStatus);
  const heartbeatAtMs = await load.silence(nodes);
  const lastExpiryMs = Math.max(...Object.values(heartbeatAtMs)) + shortGraceMs;
  await completed(episode);
  await sleep(settleMs);
  const values = {
    zoneLossNode: (latest(episode.unknownAtMs) - lastExpiryMs) / 1_000,
    zoneLossPod: (latest(episode.podAtMs) - lastExpiryMs) / 1_000,
    podWrites: ((await acceptedWrites(stand.client, podStatus)) - writesBefore) / episode.pods,
  };
  collector.add(values, await load.figures(), burstLimits);
  await stand.recover([episode]);
}

async function completed(episode: Episode): Promise<void> {
  await waitUntil('the marks of a lost zone', { timeoutMs: completionTimeoutMs }, () => episode.isComplete).catch(
    (cause: unknown) => {
      throw new Error(episode.describe(), { cause });
    },
  );
}

function latest(times: ReadonlyMap<string, number>): number {
  return Math.max(...times.values());
}
