// Single nodes that become silent: a small part of each zone, spread over the renewal interval, so that no node waits for
// a token of its zone's rate.
import { setTimeout as sleep } from 'node:timers/promises';
import { waitUntil } from '../../control-plane/wait-until.ts';
import { percentile } from '../percentile.ts';
import { steadyLimits } from './assess-saturation.ts';
import { nodeNames } from './cluster-names.ts';
import type { Episode } from './episode.ts';
import type { FigureCollector } from './figures.ts';
import type { LastHeartbeats } from './load-protocol.ts';
import { shortGraceMs } from './plan.ts';
import { renewEveryMs, RenewalSchedule } from './renewal-schedule.ts';
import type { Stand } from './stand.ts';

/** Expiry, a late pass of kube-controller-manager, and the writes. */
const batchTimeoutMs = shortGraceMs + 60_000;

interface Batch {
  readonly episode: Episode;
  readonly heartbeatAtMs: LastHeartbeats;
}

export async function measureDetection(stand: Stand, collector: FigureCollector): Promise<void> {
  const batches: Batch[] = [];
  await stand.load.figures();
  for (let window = 0; window < stand.plan.windows; window += 1) {
    if (window > 0) await sleep(renewEveryMs);
    batches.push(await silence(stand, selectBatch(stand.plan, window)));
  }
  for (const { episode } of batches) await completed(episode);
  const load = await stand.load.figures();
  for (const { episode, heartbeatAtMs } of batches) {
    const detection = episode.detectionMs(heartbeatAtMs, shortGraceMs);
    const tainting = episode.taintingMs();
    const values = {
      detectionP50: percentile(detection, 0.5) / 1_000,
      detectionP99: percentile(detection, 0.99) / 1_000,
      taintingP50: percentile(tainting, 0.5) / 1_000,
      taintingP99: percentile(tainting, 0.99) / 1_000,
    };
    collector.add(values, load, steadyLimits);
  }
  await stand.recover(batches.map(({ episode }) => episode));
}

/** Nodes that renew at equal distances in the interval; other ones in each window. */
function selectBatch({ nodes, batchNodes, windows }: Stand['plan'], window: number): readonly string[] {
  const schedule = new RenewalSchedule(nodeNames(nodes), 0);
  const inOrder = Array.from({ length: nodes }, () => schedule.next().node);
  const distance = Math.floor(nodes / batchNodes);
  const offset = Math.floor((window * distance) / windows);
  return Array.from({ length: batchNodes }, (_, index) => inOrder[index * distance + offset] ?? '');
}

async function silence({ observer, load, plan }: Stand, nodes: readonly string[]): Promise<Batch> {
  const episode = observer.begin(nodes, plan.podsPerNode);
  return { episode, heartbeatAtMs: await load.silence(nodes) };
}

async function completed(episode: Episode): Promise<void> {
  await waitUntil('the marks of silent nodes', { timeoutMs: batchTimeoutMs }, () => episode.isComplete).catch(
    (cause: unknown) => {
      throw new Error(episode.describe(), { cause });
    },
  );
}
