// Whatever happens, stages, dashboard, explain, gauge and whatif say the same about what holds a node.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildPreview } from '../../../src/cli/whatif/cluster-preview.ts';
import { describeHoldKind } from '../../../src/controller/holds/decide-holds.ts';
import type { Act, HoldKind } from '../../../src/controller/model/holds.ts';
import type { NodePolicy } from '../../../src/controller/model/policy.ts';
import { decodePolicies } from '../../../src/policy/schema/decode-policies.ts';
import type { ControllerWorld } from '../../support/controller-world.ts';
import { DashboardWorld } from '../../support/dashboard-world.ts';
import { explainNode } from '../../support/explained.ts';
import { aZonedWorld, names } from '../../support/zoned-world.ts';

const nodes = [...names(12, 'a-'), ...names(6, 'b-')];
const zoneB = { matchLabels: { 'topology.kubernetes.io/zone': 'b' } };
const edge = {
  name: 'edge',
  nodeSelector: zoneB,
  limits: { maxUnhealthy: { count: 3 }, cooldown: '20s', maxConcurrentEvictions: 1 },
  maintenance: { conditions: ['Maintenance'], maxDuration: '45s' },
};
const settings: readonly (readonly NodePolicy[])[] = [
  [],
  decodePolicies([edge]),
  decodePolicies([edge, { name: 'rival', nodeSelector: zoneB, mode: 'Paused' }]),
  decodePolicies([{ ...edge, mode: 'Observe' }]),
];

type Step = (world: ControllerWorld) => void;

const anyNode = fc.constantFrom(...nodes);
const stepOf = <T>(values: fc.Arbitrary<T>, act: (world: ControllerWorld, value: T) => void): fc.Arbitrary<Step> =>
  values.map((value) => (world) => act(world, value));
const someNodes = fc.oneof(fc.subarray(nodes, { minLength: 1 }), fc.subarray([...names(6, 'b-')], { minLength: 4 }));
const steps: fc.Arbitrary<Step> = fc.oneof(
  stepOf(someNodes, (world, some) => world.goSilent(...some)),
  stepOf(someNodes, (world, some) => world.recover(...some)),
  stepOf(someNodes, (world, some) => {
    for (const name of some) world.post(name, 'False');
  }),
  stepOf(fc.tuple(someNodes, fc.constantFrom('True', undefined)), (world, [some, status]) => {
    for (const name of some) world.setCondition(name, 'Maintenance', status);
  }),
  stepOf(fc.tuple(anyNode, fc.constantFrom('true', 'typo', undefined)), (world, [name, value]) =>
    world.annotatePause(name, value),
  ),
  stepOf(fc.constantFrom(...settings), (world, policies) => world.changeOptions({ policies })),
  stepOf(fc.boolean(), (world, paused) => world.changeOptions({ paused })),
  stepOf(fc.boolean(), (world, isLost) => (isLost ? world.loseContact() : world.restoreContact())),
);

/** What one reading of the cluster shows as well, whatever was observed before. */
const readable: ReadonlySet<HoldKind | undefined> = new Set<HoldKind>(['observed', 'paused', 'maintenance']);

class Answers {
  readonly #world: ControllerWorld;
  readonly #node: string;

  constructor(world: ControllerWorld, node: string) {
    this.#world = world;
    this.#node = node;
  }

  kinds(...acts: readonly Act[]): readonly HoldKind[] {
    return [...this.#world.lifecycle.stages.holds.of(this.#node, ...acts)].map(({ kind }) => kind);
  }

  words(kind: HoldKind): string {
    return describeHoldKind(kind, this.#world.lifecycle.stages.holds.evidenceOf(this.#node));
  }

  get isTainted(): boolean {
    return this.#world.taints(this.#node).some((taint) => taint.endsWith(':NoExecute'));
  }
}

function checkNode(world: ControllerWorld, board: DashboardWorld, node: string): void {
  const answers = new Answers(world, node);
  const emptying = answers.kinds('add-no-execute');
  const { holds, ready, state } = explainNode(world, node);
  const next = answers.isTainted ? answers.kinds('delete-for-health') : emptying;
  const isSettled = answers.isTainted || ready === 'Unknown' || ready === 'False';
  // All holds of a zone and its outer zone are one in the table.
  const shown = [...new Set(holds.map(({ kind }) => kind))];
  assert.deepEqual(shown, isSettled ? next : answers.kinds('mark-unknown', 'add-no-execute'), `explain of ${node}`);
  const cell = board.keeper.table.compute(node);
  assert.equal(cell?.state, state, `state of ${node}`);
  const [first] = state === 'suspect' ? answers.kinds('mark-unknown') : next;
  if (state !== 'ready')
    assert.equal(cell.held, first === undefined ? null : answers.words(first), `dashboard of ${node}`);
  const isAsked = emptying.some((kind) => kind !== 'zone-stopped');
  assert.equal(world.lifecycle.stages.holds.heldForMs(node, 'add-no-execute') > 0, isAsked, `stage of ${node}`);
}

/** The gauge counts each node that waits in a queue under the first reason that all others give. */
function checkGauge(world: ControllerWorld): void {
  const counts = new Map<string, number>();
  const { queues, transitions } = world.lifecycle.stages;
  for (const node of queues.keys()) {
    const [first] = transitions.withheld.has(node) ? [] : new Answers(world, node).kinds('add-no-execute');
    if (first !== undefined) counts.set(first, (counts.get(first) ?? 0) + 1);
  }
  const gauge = world.meter.read();
  for (const [reason, count] of counts)
    assert.ok((gauge.get(`node_lifecycle_held_nodes{reason="${reason}"}`) ?? 0) >= count, `gauge of ${reason}`);
}

function checkWhatIf(world: ControllerWorld): void {
  const all = [...world.nodes.values()];
  const leases = new Map([...world.leases.values()].map((lease) => [lease.name, lease]));
  const state = { atMs: world.clock.nowMs(), nodes: all, leases, pods: new Map() };
  const preview = buildPreview(state, world.options).nodes;
  for (const { name } of all) {
    const answers = new Answers(world, name);
    const [first] = answers.kinds(answers.isTainted ? 'delete-for-health' : 'add-no-execute');
    if (first !== undefined && readable.has(first)) assert.equal(preview.get(name)?.hold?.what, answers.words(first));
  }
}

test('every reader gives the same holds of every node in the same order, in random states', async () => {
  const history = fc.array(fc.tuple(steps, fc.constantFrom(2, 15, 50)), { minLength: 3, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(history, async (all) => {
      await using world = aZonedWorld(
        { a: 12, b: 6 },
        { policies: settings[1] ?? [], controlPlanePathFailureHoldMs: 60_000 },
      );
      for (const node of nodes) world.addPod(`pod-${node}`, node, [{ operator: 'Exists', tolerationSeconds: 30 }]);
      await using board = new DashboardWorld(world.start());
      for (const [step, seconds] of all) {
        step(world);
        await world.advance(seconds);
        for (const node of nodes) checkNode(world, board, node);
        checkGauge(world);
        checkWhatIf(world);
      }
    }),
    { numRuns: 20 },
  );
});
