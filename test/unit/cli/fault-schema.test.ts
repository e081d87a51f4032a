import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFaultOrder, readFaultScript } from '../../../src/cli/hollow-nodes/fault-schema.ts';

function problems(given: unknown): readonly string[] {
  const read = readFaultOrder(given);
  return 'problems' in read ? read.problems : [];
}

function action(written: unknown): unknown {
  const read = readFaultOrder({ selector: {}, action: written });
  return 'value' in read ? read.value.fault : read.problems;
}

describe('faults as people write them', () => {
  it('are read with their defaults, durations as Go has them, shares as shares or per cent', () => {
    const selector = { zone: 'a', share: '55%' };
    assert.deepEqual(readFaultOrder({ selector, action: { kind: 'partition', for: '1m30s', nodesPerSecond: 5 } }), {
      value: {
        id: undefined,
        selector: { zone: 'a', share: 0.55 },
        fault: { kind: 'partition', direction: 'all', manner: 'silent' },
        forMs: 90_000,
        nodesPerSecond: 5,
      },
    });
  });

  it('are each read into what the nodes understand', () => {
    assert.deepEqual(action({ kind: 'silence' }), { kind: 'silence', heartbeat: 'both' });
    assert.deepEqual(action({ kind: 'lag', delay: '2s', jitter: '500ms' }), {
      kind: 'lag',
      delayMs: 2_000,
      jitterMs: 500,
      on: 'request',
    });
    assert.deepEqual(action({ kind: 'flap', up: '1s', down: '2s', phase: 'hash' }), {
      kind: 'flap',
      upMs: 1_000,
      downMs: 2_000,
      phase: 'hash',
    });
    assert.deepEqual(action({ kind: 'slow-termination', stop: 'never' }), {
      kind: 'slow-termination',
      stopMs: 'never',
    });
    assert.deepEqual(action({ kind: 'clock-skew', offset: '-10m' }), {
      kind: 'clock-skew',
      offsetMs: -600_000,
      driftMsPerHour: 0,
    });
    assert.deepEqual(action({ kind: 'crash', of: 'machine', downFor: '5s' }), {
      kind: 'crash',
      of: 'machine',
      downMs: 5_000,
    });
    assert.deepEqual(action({ kind: 'delete-node' }), { kind: 'delete-node' });
    assert.deepEqual(action({ kind: 'pressure', of: 'memory', manner: 'signal' }), {
      kind: 'pressure',
      of: 'memory',
      manner: 'signal',
    });
  });

  it('that are wrong are refused field by field, with what would have been accepted', () => {
    assert.deepEqual(
      problems({
        selector: { zone: 3, share: 2, zon: 'a' },
        action: { kind: 'partition', for: '5', direction: 'up', untill: 1 },
      }),
      [
        'selector.zone: got 3; accepted: a text in which * stands for any text and ? for one character',
        'selector.share: got 2; accepted: a share above 0 and up to 1, or up to 100%',
        'selector.zon: nothing is called that here',
        'action.direction: got "up"; accepted: all, writes, watch',
        'action.for: got "5"; accepted: a duration with units, such as 1m30s or 500ms, not negative',
        'action.untill: nothing is called that here',
      ],
    );
    assert.match(problems({ action: { kind: 'parition' } }).join('\n'), /selector: is missing; accepted: names, zone/);
    assert.match(
      problems({ action: { kind: 'parition' } }).join('\n'),
      /action.kind: got "parition"; accepted: silence, lag/,
    );
    assert.deepEqual(problems(7), ['the document: got 7; accepted: an object with selector and action']);
    assert.match(
      String(action({ kind: 'errors', code: 200 })),
      /action.code: got 200; accepted: a whole number from 400 to 599/,
    );
    assert.match(
      String(action({ kind: 'pressure', of: 'pid', manner: 'signal' })),
      /action.manner: .*accepted: forced/,
    );
    assert.match(String(action({ kind: 'crash', for: '3s' })), /action.for: nothing is called that here/);
  });

  it('make a script with their times', () => {
    const read = readFaultScript([
      { at: '30s', selector: { names: ['a*'] }, action: { kind: 'unhealthy', id: 'x' } },
      { at: '1m', action: { kind: 'clear', id: 'x' } },
      { at: '2m', action: { kind: 'clear' } },
    ]);
    assert.ok('value' in read);
    assert.deepEqual(
      read.value.map(({ atMs, act }) => [atMs, act.kind]),
      [
        [30_000, 'post'],
        [60_000, 'clear'],
        [120_000, 'clear'],
      ],
    );
    const wrong = readFaultScript([
      { at: '30s', action: { kind: 'pleg-hang' } },
      { at: -1, action: { kind: 'clear' } },
    ]);
    assert.deepEqual('problems' in wrong && wrong.problems, [
      '[0].selector: is missing; accepted: names, zone, labels, share, count; {} for every node',
      '[1].at: got -1; accepted: a duration with units, such as 1m30s or 500ms, not negative',
    ]);
    const none = readFaultScript({});
    assert.match(
      String('problems' in none && none.problems),
      /accepted: a list of steps, each with at, selector and action/,
    );
  });
});
