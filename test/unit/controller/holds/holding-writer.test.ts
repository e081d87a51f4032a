import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClosableWriter, Command } from '../../../../src/controller/model/commands.ts';
import { HoldingWriter } from '../../../../src/controller/holds/holding-writer.ts';
import type { Act, Hold } from '../../../../src/controller/model/holds.ts';
import { aNodeView, aPodView } from '../../../support/builders.ts';

const hold: Hold = {
  kind: 'observed',
  scope: 'policy',
  endsBy: 'change',
  sinceMs: undefined,
  untilMs: Infinity,
  askAgainMs: Infinity,
};
const node = aNodeView({ name: 'n' });
const pod = aPodView({ nodeName: 'n' });
const taint = { key: 'k', effect: 'NoExecute' };
const ofHealth = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };

/** Every command, and the act that it counts as; undefined: not because of the node. */
const commands: readonly (readonly [Command, Act | undefined])[] = [
  [{ kind: 'set-node-conditions', node, conditions: [] }, 'mark-unknown'],
  [{ kind: 'change-taints', node, add: [taint], remove: [], lane: 'eviction' }, 'add-no-schedule'],
  [{ kind: 'change-taints', node, add: [ofHealth], remove: [taint], lane: 'eviction' }, 'add-no-execute'],
  [{ kind: 'change-taints', node, add: [], remove: [taint], lane: 'recovery' }, 'remove-taints'],
  [{ kind: 'set-node-metadata', node, labels: {} }, 'set-labels'],
  [{ kind: 'mark-pod-not-ready', pod, atMs: 0 }, 'mark-pods'],
  [{ kind: 'mark-pod-disrupted', pod, atMs: 0 }, 'delete-for-taint'],
  [{ kind: 'mark-pod-lost', pod }, 'delete-for-taint'],
  [{ kind: 'mark-pod-failed', pod, atMs: 0, disruption: undefined, regardlessOfNode: false }, 'collect-pods'],
  [{ kind: 'mark-pod-failed', pod, atMs: 0, disruption: undefined, regardlessOfNode: true }, undefined],
  [{ kind: 'delete-pod', pod }, 'delete-for-taint'],
  [{ kind: 'delete-pod', pod, forHealth: true }, 'delete-for-health'],
  [{ kind: 'evict-pod', pod, forHealth: true }, 'delete-for-health'],
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

const evictions = { reserve: () => undefined, settle: () => undefined };

for (const [command, act] of commands) {
  test(`${command.kind} is sent unless ${act ?? 'nothing'} of its node is held`, async () => {
    const { writer, sent } = aWriter();
    const asked: string[] = [];
    const ask = (name: string, kind: Act): Hold => {
      asked.push(`${name} ${kind}`);
      return hold;
    };
    const holding = new HoldingWriter({ writer, holds: { ask, evictions }, clock: { nowMs: () => 0 } });
    const outcome = await holding.carryOut(command, () => true);
    assert.deepEqual(asked, act === undefined ? [] : [`n ${act}`]);
    assert.deepEqual(outcome, act === undefined ? { result: 'written' } : { result: 'held', forMs: Infinity });
    assert.equal(sent.length, act === undefined ? 1 : 0);
  });
}

test('a hold that begins while a command waits stops it, and the end of a hold is stated', async () => {
  const { writer, sent } = aWriter();
  let current: Hold | undefined;
  const holds = { ask: () => current, evictions };
  const holding = new HoldingWriter({ writer, holds, clock: { nowMs: () => 400 } });
  const waiting = holding.carryOut({ kind: 'delete-pod', pod }, () => true);
  current = { ...hold, kind: 'paused', untilMs: 1_000 };
  assert.deepEqual(await waiting, { result: 'unwanted' });
  assert.deepEqual(sent, []);
  assert.deepEqual(await holding.carryOut({ kind: 'delete-pod', pod }, () => true), { result: 'held', forMs: 600 });
  current = { ...hold, kind: 'stale', askAgainMs: 100 };
  assert.deepEqual(await holding.carryOut({ kind: 'delete-pod', pod }, () => true), { result: 'held', forMs: 100 });
});
