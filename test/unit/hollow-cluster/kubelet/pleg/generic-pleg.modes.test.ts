import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { PlegRun, makePod, RuntimeWorld, targetOf } from '../../../../support/runtime-world.ts';

/** An operation on a node's runtime, and the time before it. */
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

/** At unique offsets, so that none coincides with a relist: the order of the two would be undefined. */
const deed: fc.Arbitrary<Deed> = fc.record({
  afterMs: fc.nat({ max: 4_000 }).map((ms) => ms + 0.5),
  pod: fc.nat({ max: pods.length - 1 }),
  what: fc.constantFrom(...deeds),
});

type Line = readonly unknown[];

/** Runs a history, and records the observable state of the relister with its times. */
async function live(history: readonly Deed[], mode: 'dirty' | 'generic'): Promise<readonly Line[]> {
  const world = new RuntimeWorld();
  const pleg = new PlegRun(world, { mode, phaseMs: 300 });
  const lines: Line[] = [];
  const over = new AbortController();
  for (const each of history) {
    await world.clock.advance(each.afterMs);
    act(world, pleg, each, { lines, signal: over.signal });
    await world.clock.advance(0);
    lines.push(['time', pleg.pleg.relistedAtMs(), pleg.pleg.problem(world.clock.monotonicMs())]);
    for (const pod of pods) lines.push(['cache', contentOf(pleg, pod)]);
  }
  await world.clock.advance(400_000);
  over.abort();
  await pleg.stop();
  return [...lines, ...pleg.sent.map(({ atMs, event }) => ['reported', atMs, event])];
}

function contentOf(pleg: PlegRun, { metadata: { uid = '' } }: Pod): unknown {
  try {
    return pleg.cache.get(uid);
  } catch (error) {
    return String(error);
  }
}

interface Notes {
  readonly lines: Line[];
  readonly signal: AbortSignal;
}

function act(world: RuntimeWorld, pleg: PlegRun, { what, pod: index }: Deed, { lines, signal }: Notes): void {
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
    'listing fails': () => faults.set({ listing: 'no response' }),
    'inspection fails': () => faults.set({ inspection: { message: 'no response', uid } }),
    'listing hangs': () => faults.set({ hangs: 'listing' }),
    mend: () => faults.clear(),
    request: () => pleg.pleg.request(uid),
    reinspect: () => pleg.pleg.reinspect(uid),
    wait: () => {
      const askedAtMs = world.clock.monotonicMs();
      const note = (got: unknown): void => void lines.push(['got', askedAtMs, world.clock.monotonicMs(), got]);
      pleg.cache.newerThan(uid, askedAtMs, signal).then(note, (error: unknown) => note(String(error)));
    },
  };
  actions[what]();
}

describe('a pleg that skips relists without effect', () => {
  it('has the same events, cache and health at the same times as one that relists each second [E11]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 25 }), async (history) => {
        assert.deepEqual(await live(history, 'dirty'), await live(history, 'generic'));
      }),
      { numRuns: 150 },
    );
  });
});
