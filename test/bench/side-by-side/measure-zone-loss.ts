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
  for (let loss = 0; loss < stand.plan.zoneLosses; loss += 1) {
    const zone = zones[loss % zones.length];
    const nodes = nodeNames(stand.plan.nodes).filter((node) => zoneOf(node) === zone);
    await loseNodes(stand, nodes.slice(remainingNodes), collector);
  }
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
