import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { Pod } from '../../../../src/api/pod.ts';
import { Looking, makePod, RuntimeWorld, targetOf } from '../../../support/runtime-world.ts';

/** What is done to a node's runtime, and how long it is left alone before. */
interface Deed {
  readonly afterMs: number;
  readonly pod: number;
  readonly what: (typeof deeds)[number];
}

const deeds = [
  'sync',
  'kill',
  'kill at once',
  'exit',
  'prune',
  'prune all',
  'reboot',
  'reboot and forget',
  'lose',
  'listing fails',
  'inspection fails',
  'listing hangs',
  'mend',
  'request',
  'reinspect',
  'wait',
] as const;

const pods: readonly Pod[] = [
  makePod('plain'),
  makePod(
    'crashing',
    { restartPolicy: 'Always' },
    { 'hollow-kubelet/exit-after': '1700ms', 'hollow-kubelet/exit-code': '1' },
  ),
  makePod('slow', {}, { 'hollow-kubelet/start-time': '2500ms', 'hollow-kubelet/stop-time': 'never' }),
  makePod(
    'staged',
    { initContainers: [{ name: 'i', image: 'img:1' }] },
    { 'hollow-kubelet/exit-after.i': '900ms', 'hollow-kubelet/stop-time': '3s' },
  ),
];

/** At times of their own, so that none falls together with a relist: which of the two goes first is anybody's guess. */
const deed: fc.Arbitrary<Deed> = fc.record({
  afterMs: fc.nat({ max: 4_000 }).map((ms) => ms + 0.5),
  pod: fc.nat({ max: pods.length - 1 }),
  what: fc.constantFrom(...deeds),
});

type Line = readonly unknown[];

/** Lives through a history, and writes down all that can be seen of the relister, and when. */
async function live(history: readonly Deed[], mode: 'dirty' | 'generic'): Promise<readonly Line[]> {
  const world = new RuntimeWorld();
  const look = new Looking(world, { mode, phaseMs: 300 });
  const lines: Line[] = [];
  const over = new AbortController();
  for (const each of history) {
    await world.clock.advance(each.afterMs);
    act(world, look, each, { lines, signal: over.signal });
    await world.clock.advance(0);
    lines.push(['time', look.relister.relistedAtMs(), look.relister.problem(world.clock.monotonicMs())]);
    for (const pod of pods) lines.push(['cache', contentOf(look, pod)]);
  }
  await world.clock.advance(400_000);
  over.abort();
  await look.stop();
  return [...lines, ...look.told.map(({ atMs, event }) => ['told', atMs, event])];
}

function contentOf(look: Looking, { metadata: { uid = '' } }: Pod): unknown {
  try {
    return look.cache.get(uid);
  } catch (error) {
    return String(error);
  }
}

interface Notes {
  readonly lines: Line[];
  readonly signal: AbortSignal;
}

function act(world: RuntimeWorld, look: Looking, { what, pod: index }: Deed, { lines, signal }: Notes): void {
  const pod = pods[index] ?? makePod('none');
  const { uid = '' } = pod.metadata;
  const { host, runtime } = world;
  const { faults } = host;
  const shrug = (): void => undefined;
  const actions: Record<Deed['what'], () => void> = {
    sync: () => void runtime.syncPod(pod, host.inspect(uid), signal).then(shrug, shrug),
    kill: () => void runtime.killPod(targetOf(pod), 10_000, signal).then(shrug, shrug),
    'kill at once': () => void runtime.killPod(targetOf(pod), 0, signal).then(shrug, shrug),
    exit: () => host.exit(uid, 'c', 3),
    prune: () => runtime.pruneContainers(uid, 1),
    'prune all': () => runtime.pruneContainers(uid, 0),
    reboot: () => host.reboot('exited'),
    'reboot and forget': () => host.reboot('gone'),
    lose: () => host.reboot('unknown'),
    'listing fails': () => faults.set({ listing: 'no answer' }),
    'inspection fails': () => faults.set({ inspection: { message: 'no answer', uid } }),
    'listing hangs': () => faults.set({ hangs: 'listing' }),
    mend: () => faults.clear(),
    request: () => look.relister.request(uid),
    reinspect: () => look.relister.reinspect(uid),
    wait: () => {
      const askedAtMs = world.clock.monotonicMs();
      const note = (got: unknown): void => void lines.push(['got', askedAtMs, world.clock.monotonicMs(), got]);
      look.cache.newerThan(uid, askedAtMs, signal).then(note, (error: unknown) => note(String(error)));
    },
  };
  actions[what]();
}

describe('a relister that only looks when it may find something', () => {
  it('tells, knows and says the same at the same times as one that looks each second [E11]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 25 }), async (history) => {
        assert.deepEqual(await live(history, 'dirty'), await live(history, 'generic'));
      }),
      { numRuns: 150 },
    );
  });
});
