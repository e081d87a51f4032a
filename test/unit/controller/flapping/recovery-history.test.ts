import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeView } from '../../../../src/machinery/api/node.ts';
import { flappingTaintKey, type Taint } from '../../../../src/machinery/api/taints.ts';
import { formatRecord } from '../../../../src/controller/flapping/parse-flapping-record.ts';
import { RecoveryHistory } from '../../../../src/controller/flapping/recovery-history.ts';
import type { FlappingRule } from '../../../../src/controller/model/policy.ts';
import { aNodeView } from '../../../support/builders.ts';

const second = 1_000;
const rule: FlappingRule = {
  recoveries: 2,
  withinMs: 600 * second,
  initialMs: 60 * second,
  maxMs: 240 * second,
  budget: { percent: undefined, count: 1 },
};
const wallStartMs = Date.parse('2026-11-24T12:00:00Z');
const notReady: readonly Taint[] = [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }];
const kept: readonly Taint[] = [{ key: flappingTaintKey, effect: 'NoSchedule' }];

/** A history, the time, and the node as it was observed last. */
class Stand {
  readonly history = new RecoveryHistory();
  atS = 0;
  node = aNodeView({ name: 'n', uid: 'u1' });

  see(ready: string, over: Partial<NodeView> = {}, isMaintained = false): this {
    const { flapping: _, ...rest } = this.node;
    this.node = { ...rest, taints: [], ...over, conditions: [{ type: 'Ready', status: ready }] };
    const now = { monotonicMs: this.atS * second, wallMs: wallStartMs + this.atS * second };
    // Whatever is observed twice is observed once.
    for (let times = 2; times > 0; times -= 1)
      this.history.observe(this.node, { rule, now, isMaintained, isPathFailure: false });
    return this;
  }

  after(seconds: number): this {
    this.atS += seconds;
    return this;
  }

  /** Not Ready with a taint, Ready with it, and Ready without it, in 10 s each. */
  flap(): this {
    return this.after(10)
      .see('False', { taints: notReady })
      .after(10)
      .see('True', { taints: notReady })
      .after(1)
      .see('True');
  }

  due(): readonly [level: number, recoveries: number, forS: number] | undefined {
    const due = this.history.dueOf('n', { monotonicMs: this.atS * second });
    return due && [due.level, due.recoveries, (due.untilMs - due.recoveredAtMs) / second];
  }

  counted(): number {
    return this.history.recoveriesOf('n', rule, { monotonicMs: this.atS * second });
  }
}

/** A node that recovered twice: due, and not kept yet. */
function aFlappingNode(): Stand {
  return new Stand().see('True').flap().flap();
}

test('the second recovery within the window is the first after which the node is kept', () => {
  const stand = new Stand().see('True').flap();
  assert.deepEqual([stand.due(), stand.counted()], [undefined, 1]);
  stand.flap();
  assert.deepEqual([stand.due(), stand.counted()], [[1, 2, 60], 2]);
});

test('it is due as soon as the node is Ready, before the health taints are removed, and not if it was Ready for a moment only', () => {
  const stand = new Stand().see('True').flap().after(10).see('False', { taints: notReady });
  stand.after(10).see('True', { taints: notReady });
  assert.deepEqual([stand.due(), stand.counted()], [[1, 2, 60], 1]);
  stand.after(1).see('False', { taints: notReady });
  assert.deepEqual([stand.due(), stand.counted()], [undefined, 1]);
});

test('recoveries further apart than the window do not add up', () => {
  const stand = new Stand().see('True').flap().after(700).flap();
  assert.deepEqual([stand.due(), stand.counted()], [undefined, 1]);
});

test('the first time that a node becomes Ready is no recovery, and a short False without a taint is none', () => {
  const stand = new Stand().see('False', { taints: notReady }).after(30).see('True', { taints: notReady }).see('True');
  assert.equal(stand.counted(), 0);
  stand.after(5).see('False').after(5).see('True');
  assert.equal(stand.counted(), 0);
});

test('a node that was down in planned maintenance did not flap', () => {
  const stand = new Stand().see('True').flap();
  stand.after(10).see('False', { taints: notReady }).after(5).see('False', { taints: notReady }, true);
  stand.after(5).see('True', { taints: notReady }).see('True');
  assert.deepEqual([stand.due(), stand.counted()], [undefined, 1]);
});

test('what is due lasts for its time', () => {
  const stand = aFlappingNode().after(58);
  assert.notEqual(stand.due(), undefined);
  assert.equal(stand.after(1).due(), undefined);
});

test('while it flaps each recovery doubles the time, whether the node was kept or not; a quiet window ends it', () => {
  const stand = aFlappingNode();
  stand.history.settle('n');
  assert.equal(stand.due(), undefined);
  assert.deepEqual(stand.after(300).flap().due(), [2, 3, 120]);
  assert.deepEqual(stand.after(500).flap().due(), [3, 2, 240], 'two of them are within the window');
  assert.deepEqual(stand.after(500).flap().due(), [4, 2, 240], 'the maximum');
  assert.equal(stand.after(601).flap().due(), undefined);
});

test('the record on the node is followed: by a leader, a standby, and a new process', () => {
  const record = formatRecord(3, wallStartMs + 500 * second);
  for (const stand of [aFlappingNode(), new Stand().after(42), new Stand().see('True').flap()]) {
    stand.see('True', { taints: kept, flapping: record });
    assert.equal(stand.due(), undefined);
    stand.after(10).see('False', { taints: [...kept, ...notReady], flapping: record });
    stand.after(10).see('True', { taints: [...kept, ...notReady], flapping: record });
    assert.deepEqual(stand.due()?.[0], 4);
  }
});

test('a standby that sees the recovery and its record at once does not count it twice', () => {
  const stand = aFlappingNode();
  stand.after(10).see('False', { taints: notReady });
  stand.after(10).see('True', { taints: kept, flapping: formatRecord(2, wallStartMs + 500 * second) });
  assert.deepEqual([stand.due(), stand.counted()], [undefined, 3]);
  stand.after(10).see('False', { taints: [...kept, ...notReady], flapping: stand.node.flapping ?? '' });
  stand.after(10).see('True', { taints: [...kept, ...notReady], flapping: stand.node.flapping ?? '' });
  assert.equal(stand.due()?.[0], 3);
});

test('at its end the record is removed and the level is remembered, until the window since the recovery is over', () => {
  const text = formatRecord(2, wallStartMs + 120 * second);
  // It recovered at 0 s, by its level and end.
  const after = (seconds: number): number | undefined =>
    new Stand().see('True', { taints: kept, flapping: text }).after(120).see('True').after(seconds).flap().due()?.[0];
  assert.equal(after(440), 3);
  assert.equal(after(500), undefined);
});

test('another client that removes the annotation, the taint or both lets counting start again', () => {
  const text = formatRecord(1, wallStartMs + 300 * second);
  for (const left of [{ taints: kept }, { flapping: text }, {}]) {
    const stand = aFlappingNode().see('True', { taints: kept, flapping: text });
    stand.after(1).see('True', left).after(1).see('True');
    assert.equal(stand.counted(), 0, JSON.stringify(left));
    assert.equal(stand.flap().due(), undefined);
    assert.deepEqual(stand.flap().due()?.[0], 1);
  }
});

test('another node of the same name has no history, and nothing is remembered of what is over or gone', () => {
  const stand = aFlappingNode();
  stand.node = { ...stand.node, uid: 'u2' };
  stand.see('True', { uid: 'u2' });
  assert.deepEqual([stand.due(), stand.counted()], [undefined, 0]);
  stand.flap().flap();
  assert.notEqual(stand.due(), undefined);
  stand.history.forget('n');
  assert.deepEqual([stand.due(), stand.history.size], [undefined, 0]);
});
