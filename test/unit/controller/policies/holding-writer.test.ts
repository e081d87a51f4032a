import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClosableWriter, Command } from '../../../../src/controller/model/commands.ts';
import type { Maintenance, NodeAct, NodeHold } from '../../../../src/controller/model/policy.ts';
import { HoldingWriter } from '../../../../src/controller/policies/holding-writer.ts';
import { aNodeView, aPodView } from '../../../support/builders.ts';

const hold: NodeHold = { mode: 'Observe', source: { kind: 'policy', policy: 'o' }, untilMs: Infinity };
const node = aNodeView({ name: 'n' });
const pod = aPodView({ nodeName: 'n' });
const taint = { key: 'k', effect: 'NoExecute' };

/** Every command, and the act that it counts as; undefined: not because of the node. */
const commands: readonly (readonly [Command, NodeAct | undefined])[] = [
  [{ kind: 'set-node-conditions', node, conditions: [] }, 'mark-unknown'],
  [{ kind: 'change-taints', node, add: [taint], remove: [], lane: 'eviction' }, 'add-taints'],
  [{ kind: 'change-taints', node, add: [taint], remove: [taint], lane: 'eviction' }, 'add-taints'],
  [{ kind: 'change-taints', node, add: [], remove: [taint], lane: 'recovery' }, 'remove-taints'],
  [{ kind: 'set-node-labels', node, labels: {} }, 'set-labels'],
  [{ kind: 'mark-pod-not-ready', pod, atMs: 0 }, 'mark-pods-not-ready'],
  [{ kind: 'mark-pod-disrupted', pod, atMs: 0 }, 'delete-pods'],
  [{ kind: 'mark-pod-lost', pod }, 'delete-pods'],
  [{ kind: 'mark-pod-failed', pod, atMs: 0, disruption: undefined, regardlessOfNode: false }, 'delete-pods'],
  [{ kind: 'mark-pod-failed', pod, atMs: 0, disruption: undefined, regardlessOfNode: true }, undefined],
  [{ kind: 'delete-pod', pod }, 'delete-pods'],
  [{ kind: 'delete-pod', pod, regardlessOfNode: true }, undefined],
];

function aWriter(): { readonly writer: ClosableWriter; readonly sent: Command[] } {
  const sent: Command[] = [];
  const writer: ClosableWriter = {
    carryOut: async (command, stillWanted) => {
      await Promise.resolve();
      if (!stillWanted()) return { result: 'unwanted' };
      sent.push(command);
      return { result: 'written' };
    },
    close: () => undefined,
    drained: () => Promise.resolve(),
  };
  return { writer, sent };
}

for (const [command, act] of commands) {
  test(`${command.kind} is sent unless ${act ?? 'nothing'} of its node is held`, async () => {
    const { writer, sent } = aWriter();
    const asked: string[] = [];
    const check = (name: string, kind: NodeAct): NodeHold => {
      asked.push(`${name} ${kind}`);
      return hold;
    };
    const holding = new HoldingWriter({
      writer,
      holds: { check },
      maintenanceOf: () => undefined,
      clock: { nowMs: () => 0 },
    });
    const outcome = await holding.carryOut(command, () => true);
    assert.deepEqual(asked, act === undefined ? [] : [`n ${act}`]);
    assert.deepEqual(outcome, act === undefined ? { result: 'written' } : { result: 'held', forMs: Infinity });
    assert.equal(sent.length, act === undefined ? 1 : 0);
  });
}

test('a hold that begins while a command waits stops it, and the end of a hold is stated', async () => {
  const { writer, sent } = aWriter();
  let current: NodeHold | undefined;
  const holds = { check: () => current };
  const holding = new HoldingWriter({ writer, holds, maintenanceOf: () => undefined, clock: { nowMs: () => 400 } });
  const waiting = holding.carryOut({ kind: 'delete-pod', pod }, () => true);
  current = { ...hold, mode: 'Paused', untilMs: 1_000 };
  assert.deepEqual(await waiting, { result: 'unwanted' });
  assert.deepEqual(sent, []);
  assert.deepEqual(await holding.carryOut({ kind: 'delete-pod', pod }, () => true), { result: 'held', forMs: 600 });
});

test('maintenance holds the NoExecute taint for the health of the node and nothing else', async () => {
  const maintenance: Maintenance = { policy: 'm', signals: [], untilMs: 1_000 };
  const options = { holds: { check: () => undefined }, maintenanceOf: () => maintenance, clock: { nowMs: () => 400 } };
  const health = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
  const lane = 'tainting';
  for (const [command] of commands) {
    const { writer, sent } = aWriter();
    await new HoldingWriter({ ...options, writer }).carryOut(command, () => true);
    assert.deepEqual(sent, [command]);
  }
  for (const effect of ['NoSchedule', 'NoExecute']) {
    const { writer } = aWriter();
    const command: Command = { kind: 'change-taints', node, add: [{ ...health, effect }], remove: [], lane };
    const outcome = await new HoldingWriter({ ...options, writer }).carryOut(command, () => true);
    const held = { result: 'held', forMs: 600 };
    assert.deepEqual(outcome, effect === 'NoExecute' ? held : { result: 'written' });
  }
});
