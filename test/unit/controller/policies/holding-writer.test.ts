import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClosableWriter, Command } from '../../../../src/controller/model/commands.ts';
import type { NodeAct, NodeHold } from '../../../../src/controller/model/policy.ts';
import type { NodeWrite } from '../../../../src/controller/policies/classify-act.ts';
import { HoldingWriter } from '../../../../src/controller/policies/holding-writer.ts';
import { aNodeView, aPodView } from '../../../support/builders.ts';

const hold: NodeHold = { mode: 'Observe', source: { kind: 'policy', policy: 'o' }, untilMs: Infinity };
const node = aNodeView({ name: 'n' });
const pod = aPodView({ nodeName: 'n' });
const taint = { key: 'k', effect: 'NoExecute' };
const ofHealth = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const noSchedule = { ...ofHealth, effect: 'NoSchedule' };

const noteAct = (): undefined => undefined;

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
    const actHoldOf = ({ node: name, act: kind }: NodeWrite): NodeHold => {
      asked.push(`${name} ${kind}`);
      return hold;
    };
    const holding = new HoldingWriter({ writer, holds: { actHoldOf, noteAct }, clock: { nowMs: () => 0 } });
    const outcome = await holding.carryOut(command, () => true);
    assert.deepEqual(asked, act === undefined ? [] : [`n ${act}`]);
    assert.deepEqual(outcome, act === undefined ? { result: 'written' } : { result: 'held', forMs: Infinity });
    assert.equal(sent.length, act === undefined ? 1 : 0);
  });
}

test('a hold that begins while a command waits stops it, and the end of a hold is stated', async () => {
  const { writer, sent } = aWriter();
  let current: NodeHold | undefined;
  const holds = { actHoldOf: () => current, noteAct };
  const holding = new HoldingWriter({ writer, holds, clock: { nowMs: () => 400 } });
  const waiting = holding.carryOut({ kind: 'delete-pod', pod }, () => true);
  current = { ...hold, mode: 'Paused', untilMs: 1_000 };
  assert.deepEqual(await waiting, { result: 'unwanted' });
  assert.deepEqual(sent, []);
  assert.deepEqual(await holding.carryOut({ kind: 'delete-pod', pod }, () => true), { result: 'held', forMs: 600 });
});

/** Whether a breaker applies to each command. */
const evicting: readonly (readonly [Command, boolean])[] = [
  [{ kind: 'set-node-conditions', node, conditions: [] }, false],
  [{ kind: 'change-taints', node, add: [ofHealth], remove: [], lane: 'tainting' }, true],
  [{ kind: 'change-taints', node, add: [noSchedule, ofHealth], remove: [taint], lane: 'tainting' }, true],
  [{ kind: 'change-taints', node, add: [noSchedule], remove: [], lane: 'tainting' }, false],
  [{ kind: 'change-taints', node, add: [taint], remove: [], lane: 'tainting' }, false],
  [{ kind: 'change-taints', node, add: [], remove: [ofHealth], lane: 'recovery' }, false],
  [{ kind: 'mark-pod-not-ready', pod, atMs: 0 }, false],
  [{ kind: 'mark-pod-disrupted', pod, atMs: 0, forHealth: true }, true],
  [{ kind: 'mark-pod-lost', pod, forHealth: true }, true],
  [{ kind: 'delete-pod', pod, forHealth: true }, true],
  [{ kind: 'delete-pod', pod, forHealth: false }, false],
  [{ kind: 'delete-pod', pod }, false],
];

test('a breaker applies to NoExecute taints and evictions for the health of the node', async () => {
  for (const [command, isEvicting] of evicting) {
    const asked: boolean[] = [];
    const holds = {
      actHoldOf: ({ evicts }: NodeWrite): undefined => {
        asked.push(evicts);
      },
      noteAct,
    };
    const holding = new HoldingWriter({ writer: aWriter().writer, holds, clock: { nowMs: () => 0 } });
    await holding.carryOut(command, () => true);
    assert.deepEqual(asked, [isEvicting, isEvicting], JSON.stringify(command));
  }
});
