// Invariants over random small clusters and random faults: checked against each write to the API, and at the end.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import { ControllerWorld, type Write } from '../../support/controller-world.ts';

const ratePerSecond = 0.1;
const zoneNames = ['a', 'b', 'c'] as const;
const unreachable = 'node.kubernetes.io/unreachable';
const notReady = 'node.kubernetes.io/not-ready';

type Step =
  | { readonly do: 'silent' | 'back' | 'say-not-ready' | 'delete-node'; readonly node: number }
  | { readonly do: 'advance'; readonly seconds: number }
  | { readonly do: 'fail'; readonly resource: 'nodes' | 'pods'; readonly times: number }
  | { readonly do: 'freeze' }
  | { readonly do: 'thaw' }
  | { readonly do: 'restart' };

const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('advance' as const), seconds: fc.integer({ min: 1, max: 70 }) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('silent' as const), node: fc.nat(30) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('back' as const), node: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('say-not-ready' as const), node: fc.nat(30) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('delete-node' as const), node: fc.nat(30) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fail' as const),
      resource: fc.constantFrom('nodes' as const, 'pods' as const),
      times: fc.integer({ min: 1, max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ do: 'freeze' }, { do: 'thaw' }) },
  { weight: 2, arbitrary: fc.constant<Step>({ do: 'restart' }) },
);

/** A cluster with one pod of each patience on every node, and a record of what the checks need to know. */
class Story {
  readonly world = new ControllerWorld();
  readonly names: readonly string[];
  readonly #gone = new Set<string>();
  readonly #alive = new Set<string>();
  /** Node to the times at which it got a health taint with NoExecute, having had none. */
  readonly tainted: { readonly node: string; readonly zone: string; readonly atSeconds: number }[] = [];
  /** Restarts after which the API did not show the zone's last taint. */
  readonly forgotten: { readonly zone: string; readonly atSeconds: number }[] = [];
  readonly #carried = new Map<string, { readonly keys: readonly string[]; readonly sinceSeconds: number }>();
  #looked = 0;
  #frozenAtSeconds: number | undefined;

  constructor(sizes: readonly number[]) {
    this.names = sizes.flatMap((size, zone) => Array.from({ length: size }, (_, i) => `${zoneNames[zone]}-${i}`));
    for (const name of this.names) {
      this.world.addNode(name, { zone: name.slice(0, 1) });
      this.#alive.add(name);
      for (const seconds of [0, 20, undefined]) {
        const patience = seconds === undefined ? {} : { tolerationSeconds: seconds };
        this.world.addPod(`${name}-${seconds ?? 'for-ever'}`, name, [
          { operator: 'Exists', effect: 'NoExecute', ...patience },
        ]);
      }
    }
    this.world.renewing(...this.names);
    this.world.start();
  }

  async step(step: Step): Promise<void> {
    if (step.do === 'advance') await this.#advance(step.seconds);
    else if (step.do === 'fail') this.world.failNext('patch', step.resource, 'unavailable', step.times);
    else if (step.do === 'freeze') this.#freeze();
    else if (step.do === 'thaw') this.#thaw();
    else if (step.do === 'restart') await this.#restart();
    else this.#change(step.do, this.names[step.node % this.names.length] ?? '');
  }

  /** Everything that still exists is well again, for long enough. */
  async recover(): Promise<void> {
    this.#thaw();
    for (const name of this.names) this.#change('back', name);
    await this.#advance(90);
  }

  living(): readonly string[] {
    return this.names.filter((name) => !this.#gone.has(name));
  }

  async #advance(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 1) {
      await this.world.advance(Math.min(left, 1));
      this.#check();
    }
  }

  /** Memory is lost. The API still shows a zone's last taint, unless it was removed or its node was deleted. */
  async #restart(): Promise<void> {
    await this.world.restart();
    this.#check();
    for (const zone of zoneNames) {
      const last = this.tainted.findLast((taint) => taint.zone === zone);
      if (last !== undefined && !this.#isRecorded(last.node))
        this.forgotten.push({ zone, atSeconds: this.world.seconds() });
    }
  }

  #isRecorded(node: string): boolean {
    return !this.#gone.has(node) && (this.#carried.get(node)?.keys.length ?? 0) > 0;
  }

  #freeze(): void {
    if (this.#frozenAtSeconds !== undefined) return;
    this.#frozenAtSeconds = this.world.seconds();
    this.world.loseContact();
    this.world.goSilent(...this.names);
  }

  #thaw(): void {
    if (this.#frozenAtSeconds === undefined) return;
    this.#frozenAtSeconds = undefined;
    this.world.restoreContact();
    this.world.renewing(...this.#alive);
  }

  #change(what: 'silent' | 'back' | 'say-not-ready' | 'delete-node', name: string): void {
    if (this.#gone.has(name)) return;
    if (what === 'silent' || what === 'delete-node') {
      this.#alive.delete(name);
      this.world.goSilent(name);
    }
    if (what === 'delete-node') {
      this.#gone.add(name);
      this.world.removeNode(name);
    }
    if (this.#frozenAtSeconds !== undefined) return;
    if (what === 'back' || what === 'say-not-ready') {
      this.#alive.add(name);
      this.world.renewing(name);
      this.world.post(name, what === 'back' ? 'True' : 'False');
    }
  }

  #check(): void {
    const { writes } = this.world;
    for (; this.#looked < writes.length; this.#looked += 1) this.#checkWrite(writes[this.#looked]!);
  }

  #checkWrite(write: Write): void {
    if (write.verb === 'delete') return this.#checkDelete(write);
    const taints = (write.body as { spec?: { taints: readonly Taint[] | null } }).spec?.taints;
    if (write.resource !== 'nodes' || taints === undefined) return;
    const keys = (taints ?? [])
      .filter(({ key, effect }) => effect === 'NoExecute' && (key === unreachable || key === notReady))
      .map(({ key }) => key);
    assert.ok(keys.length <= 1, `both health taints on ${write.name}`);
    const before = this.#carried.get(write.name)?.keys ?? [];
    if (before.length === 0 && keys.length > 0) {
      this.#assertSeeing(write);
      assert.equal(
        this.world.lifecycle.stages.zones.fullDisruption && !this.#justEnded(),
        false,
        'tainted in a full disruption',
      );
      this.tainted.push({ node: write.name, zone: write.name.slice(0, 1), atSeconds: write.atSeconds });
    }
    const sinceSeconds =
      before.length > 0 ? (this.#carried.get(write.name)?.sinceSeconds ?? write.atSeconds) : write.atSeconds;
    this.#carried.set(write.name, { keys, sinceSeconds });
  }

  /** Staleness is detected after 5 s without contact with the API server. A restart checks again. */
  #assertSeeing({ name, atSeconds }: Write): void {
    const frozenSeconds = atSeconds - (this.#frozenAtSeconds ?? Infinity);
    assert.ok(frozenSeconds < 5.1, `${name} was written to after ${frozenSeconds} s of stale time`);
  }

  /** The check runs once a second: within that second an outage may have begun after the write. */
  #justEnded(): boolean {
    return this.world.decisions.some(
      ({ atMs, decision }) => decision.kind === 'full-disruption-entered' && this.world.clock.nowMs() - atMs <= 1_100,
    );
  }

  #checkDelete(write: Write): void {
    const node = write.name.slice(0, write.name.indexOf('-', 2));
    const patienceSeconds = Number(write.name.slice(write.name.indexOf('-', 2) + 1));
    assert.ok(!Number.isNaN(patienceSeconds), `${write.name} tolerates for ever`);
    assert.ok(write.uid !== undefined, 'a delete contains the uid');
    this.#assertSeeing(write);
    const carried = this.#carried.get(node);
    assert.ok(
      carried !== undefined && carried.keys.length > 0,
      `${write.name} was deleted though its node carries no taint`,
    );
    assert.ok(
      write.atSeconds - carried.sinceSeconds >= patienceSeconds - 0.001,
      `${write.name} left ${write.atSeconds - carried.sinceSeconds} s after the taint`,
    );
  }
}

/**
 * A token bucket's promise over every window: no more than what it refilled, and the one token it holds; a bucket that is
 * new and does not know of the one before it holds another.
 */
function assertRate(story: Story, zone: string): void {
  const times = story.tainted.filter((taint) => taint.zone === zone).map(({ atSeconds }) => atSeconds);
  for (const [first, from] of times.entries()) {
    for (const [further, to] of times.slice(first).entries()) {
      const isWithin = ({ zone: where, atSeconds }: { readonly zone: string; readonly atSeconds: number }): boolean =>
        where === zone && atSeconds >= from && atSeconds <= to;
      const allowed = ratePerSecond * (to - from) + 1 + story.forgotten.filter(isWithin).length + 1e-6;
      assert.ok(further + 1 <= allowed, `zone ${zone}: ${further + 1} taints in ${to - from} s`);
    }
  }
}

const aCluster = fc.tuple(
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 1, max: 6 }),
  fc.integer({ min: 0, max: 4 }),
);

test('random histories with restarts: rates are kept, no node has both taints, no pod is evicted early or untainted, and all taints are removed in the end', async () => {
  await fc.assert(
    fc.asyncProperty(aCluster, fc.array(aStep, { minLength: 5, maxLength: 30 }), async (sizes, steps) => {
      const story = new Story(sizes);
      try {
        for (const step of steps) await story.step(step);
        for (const zone of zoneNames) assertRate(story, zone);
        await story.recover();
        const { world } = story;
        for (const name of story.living()) assert.deepEqual(world.taints(name), [], name);
        for (const zone of world.lifecycle.stages.queues.zones())
          assert.equal(world.lifecycle.stages.queues.get(zone)?.size, 0, zone);
        assert.equal(world.lifecycle.stages.evictor.scheduled().size, 0);
        const writes = world.writes.length;
        await world.restart();
        await world.advance(120);
        assert.equal(world.writes.length, writes, 'an idle healthy cluster causes no write');
      } finally {
        await story.world.stop();
      }
    }),
    { numRuns: 45 },
  );
});
