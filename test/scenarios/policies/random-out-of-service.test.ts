// Random histories of evidence and heartbeats, with and without times, late watches, restarts and changed policies: the taint
// out-of-service is added only if the last heartbeat came before that evidence appeared on the node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fencedAnnotation, outOfServiceAnnotation } from '../../../src/machinery/api/node.ts';
import type { Taint } from '../../../src/machinery/api/taints.ts';
import { formatTime } from '../../../src/machinery/api/timestamps.ts';
import { outOfServiceLabel } from '../../../src/machinery/api/topology.ts';
import { aPolicy } from '../../support/builders.ts';
import { aZonedWorld } from '../../support/zoned-world.ts';

const off = 'example.com/off';
const policies = [aPolicy({ name: 'pool', outOfService: { conditions: ['Fenced'], taints: [off] } })];
const node = 'a-0';
const sources = { condition: 'condition Fenced', taint: `taint ${off}`, annotation: `annotation ${fencedAnnotation}` };
type Kind = keyof typeof sources;
const kinds = fc.constantFrom<Kind>('condition', 'taint', 'annotation');

const aStep = fc.oneof(
  fc.record({ set: kinds, timed: fc.boolean() }),
  fc.record({ set: kinds, timed: fc.boolean() }),
  fc.record({ rewrite: kinds }),
  fc.record({ remove: kinds }),
  fc.record({ beat: fc.constantFrom('lease', 'status', 'both', 'untimed') }),
  fc.record({ late: fc.constantFrom('nodes', 'all', 'none') }),
  fc.record({ overtaken: kinds }),
  fc.record({ restart: fc.constant(true) }),
  fc.record({ policy: fc.boolean() }),
  fc.record({ untimedUnknown: fc.constant(true) }),
  fc.record({ advanceS: fc.integer({ min: 1, max: 30 }) }),
  fc.record({ advanceS: fc.integer({ min: 30, max: 90 }) }),
);
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

class FencingRun {
  readonly world = aZonedWorld({ a: 6, b: 6 }, { policies });
  /** Order of what reached the API server: when each evidence appeared, and the last heartbeat. */
  readonly #appeared = new Map<Kind, number>();
  /** Evidence whose time was written again. A process that sees only that time takes it for the one of the appearance. */
  readonly #rewritten = new Set<Kind>();
  #beat = 0;
  #order = 0;
  added = 0;
  /** Evidence that a heartbeat came after. A failed assertion in a write would be a failed write. */
  readonly wrong: string[] = [];

  constructor() {
    const { world } = this;
    world.setLabels(node, { ...world.node(node).metadata.labels, [outOfServiceLabel]: 'allowed' });
    world.afterWrite = async ({ name }) => {
      const text = name === node ? world.node(node).metadata.annotations?.[outOfServiceAnnotation] : undefined;
      if (text === undefined || this.added > 0) return;
      this.added += 1;
      const { evidence } = JSON.parse(text) as { evidence: string };
      const kind = (Object.keys(sources) as Kind[]).find((each) => sources[each] === evidence);
      const appeared = kind === undefined ? undefined : this.#appeared.get(kind);
      if (appeared === undefined || appeared < this.#beat) this.wrong.push(evidence);
    };
  }

  async apply(step: Step): Promise<void> {
    const { world } = this;
    if ('set' in step) this.#set(step.set, step.timed);
    else if ('rewrite' in step) this.#rewrite(step.rewrite);
    else if ('remove' in step) this.#remove(step.remove);
    else if ('beat' in step) {
      // Times in a status have whole seconds.
      await world.advance(1);
      this.#sendHeartbeat(step.beat);
    } else if ('late' in step) this.#delay(step.late);
    else if ('overtaken' in step) await this.#overtake(step.overtaken);
    else if ('restart' in step) await this.#restart();
    else if ('policy' in step) this.#changePolicy(step.policy);
    else if ('untimedUnknown' in step) this.#dropTimes();
    else await this.advance(step.advanceS);
  }

  /** A watch of nodes that is late for longer counts as stale. */
  async advance(seconds: number): Promise<void> {
    await this.world.advance(seconds);
    if (seconds > 60) this.#delay('none');
  }

  /** Evidence that the watch of nodes brings after a later renewal. */
  async #overtake(kind: Kind): Promise<void> {
    const { world } = this;
    this.#delay('none');
    world.nodesFrozen = true;
    this.#set(kind, false);
    await this.apply({ beat: 'lease' });
    world.nodesFrozen = false;
    world.syncCaches();
  }

  async #restart(): Promise<void> {
    for (const kind of this.#rewritten) this.#remove(kind);
    await this.world.restart();
  }

  #changePolicy(isOn: boolean): void {
    for (const kind of this.#rewritten) this.#remove(kind);
    this.world.changeOptions({ policies: isOn ? policies : [] });
  }

  #set(kind: Kind, timed: boolean): void {
    if (this.#appeared.has(kind)) return this.#rewrite(kind);
    this.#appeared.set(kind, ++this.#order);
    this.#put(kind, timed);
  }

  /** An agent that writes another time although nothing changed. */
  #rewrite(kind: Kind): void {
    const { world } = this;
    if (!this.#appeared.has(kind) || world.frozen || world.nodesFrozen) return;
    this.#rewritten.add(kind);
    this.#put(kind, true);
  }

  #put(kind: Kind, timed: boolean): void {
    const { world } = this;
    const at = formatTime(world.clock.nowMs());
    if (kind === 'condition') world.setCondition(node, 'Fenced', 'True', timed ? at : null);
    else if (kind === 'annotation') world.annotate(node, fencedAnnotation, `boot-${node}`);
    else this.#setTaint({ key: off, effect: 'NoExecute', ...(timed ? { timeAdded: at } : {}) });
  }

  #remove(kind: Kind): void {
    const { world } = this;
    this.#appeared.delete(kind);
    this.#rewritten.delete(kind);
    if (kind === 'condition') world.setCondition(node, 'Fenced', 'False');
    else if (kind === 'annotation') world.annotate(node, fencedAnnotation, undefined);
    else this.#setTaint(undefined);
  }

  #setTaint(taint: Taint | undefined): void {
    const others = (this.world.node(node).spec?.taints ?? []).filter(({ key }) => key !== off);
    this.world.setTaints(node, taint === undefined ? others : [...others, taint]);
  }

  #sendHeartbeat(by: 'lease' | 'status' | 'both' | 'untimed'): void {
    const { world } = this;
    this.#beat = ++this.#order;
    if (by === 'status' || by === 'both') world.post(node, 'False');
    if (by === 'untimed') {
      world.post(node, 'False');
      this.#dropTimes();
    }
    if (by !== 'status') world.renewOnce(node);
  }

  #dropTimes(): void {
    const { world } = this;
    const stored = world.node(node);
    const conditions = (stored.status?.conditions ?? []).map((condition) => {
      const { lastTransitionTime: _, ...others } = condition;
      return condition.type === 'Ready' ? others : condition;
    });
    world.putNode({ ...stored, status: { ...stored.status, conditions } });
  }

  #delay(what: 'nodes' | 'all' | 'none'): void {
    const { world } = this;
    world.nodesFrozen = what === 'nodes';
    world.frozen = what === 'all';
    if (what === 'none') this.#list();
  }

  /** A complete state, which skips the states in between. */
  #list(): void {
    const { world } = this;
    world.nodes.state = 'listing';
    world.syncCaches();
    world.nodes.state = 'watching';
  }
}

test('property: a heartbeat after evidence is never overlooked', async () => {
  let added = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(aStep, { minLength: 4, maxLength: 24 }), async (steps) => {
      const run = new FencingRun();
      await using world = run.world;
      await world.running(1);
      world.goSilent(node);
      for (const step of steps) await run.apply(step);
      await run.apply({ late: 'none' });
      await run.advance(90);
      assert.deepEqual(run.wrong, []);
      added += run.added;
    }),
    { numRuns: 100 },
  );
  assert.ok(added > 0, 'in some of them it is added');
});
