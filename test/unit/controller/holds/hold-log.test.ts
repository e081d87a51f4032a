import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../../../src/controller/model/decisions.ts';
import type { NodeAct, NodeHold } from '../../../../src/controller/model/policy.ts';
import { HoldLog } from '../../../../src/controller/holds/hold-log.ts';
import { aNodeView } from '../../../support/builders.ts';
import { RecordingMeter } from '../../../support/fakes.ts';

const observed: NodeHold = { mode: 'Observe', source: { kind: 'policy', policy: 'o' }, untilMs: Infinity };
const paused: NodeHold = { mode: 'Paused', source: { kind: 'config-file' }, untilMs: Infinity };

class Stand {
  hold: NodeHold | undefined = observed;
  readonly meter = new RecordingMeter();
  readonly decisions: Decision[] = [];
  readonly log = new HoldLog({
    nodes: { get: (name) => (name === 'gone' ? undefined : aNodeView({ name })) },
    decisions: { note: (decision) => this.decisions.push(decision) },
    meter: this.meter,
  });

  check(node: string, act: NodeAct): void {
    const isRecovery = act === 'remove-taints' || act === 'set-labels';
    this.log.note(node, act, this.hold, this.hold?.mode === 'Observe' || !isRecovery);
  }

  /** Each noted act with its mode. */
  noted(): readonly string[] {
    return this.decisions.map((decision) =>
      decision.kind === 'act-withheld' ? `${decision.act} ${decision.mode}` : decision.kind,
    );
  }
}

test('each kind of act is recorded once, until the node recovers', () => {
  const stand = new Stand();
  for (const act of ['mark-unknown', 'mark-unknown', 'add-taints', 'mark-unknown'] as const) stand.check('n', act);
  assert.deepEqual(stand.noted(), ['mark-unknown Observe', 'add-taints Observe']);
  stand.log.recovered('n');
  stand.check('n', 'mark-unknown');
  assert.equal(stand.noted().length, 3);
  const series = 'node_lifecycle_withheld_acts_total{policy="o",act="mark-unknown"}';
  assert.equal(stand.meter.series.get(series), 2);
});

test('a withheld recovery is recorded again after worse health, and not at each evaluation of the healthy node', () => {
  const stand = new Stand();
  stand.check('n', 'remove-taints');
  stand.log.recovered('n');
  stand.check('n', 'remove-taints');
  assert.equal(stand.noted().length, 1);
  stand.check('n', 'add-taints');
  stand.log.recovered('n');
  stand.check('n', 'remove-taints');
  assert.deepEqual(stand.noted(), ['remove-taints Observe', 'add-taints Observe', 'remove-taints Observe']);
});

test('another hold begins another episode; a pause is not counted as withheld by a policy, and lets recovery pass', () => {
  const stand = new Stand();
  stand.check('n', 'delete-pods');
  stand.hold = paused;
  for (const act of ['delete-pods', 'remove-taints', 'set-labels'] as const) stand.check('n', act);
  assert.deepEqual(stand.noted(), ['delete-pods Observe', 'delete-pods Paused']);
  assert.equal(stand.meter.series.size, 1);
});

test('nothing is remembered of a node without a hold, that does not exist, or that was forgotten', () => {
  const stand = new Stand();
  stand.check('n', 'delete-pods');
  stand.check('m', 'delete-pods');
  stand.check('gone', 'delete-pods');
  assert.deepEqual(stand.log.nodes(), ['n', 'm']);
  stand.log.forget('m');
  stand.hold = undefined;
  stand.check('n', 'delete-pods');
  assert.equal(stand.log.size, 0);
});
