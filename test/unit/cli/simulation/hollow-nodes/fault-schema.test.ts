import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFaultOrder, readFaultScript } from '../../../../../src/cli/simulation/hollow-nodes/fault-schema.ts';

function problems(given: unknown): readonly string[] {
  const read = readFaultOrder(given);
  return 'problems' in read ? read.problems : [];
}

function action(written: unknown): unknown {
  const read = readFaultOrder({ selector: {}, action: written });
  return 'value' in read ? read.value.fault : read.problems;
}

describe('fault schema', () => {
  it('applies defaults and parses Go durations and fractions or percentages', () => {
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

  it('parses each kind of fault', () => {
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
    assert.deepEqual(action({ kind: 'shutdown', conditions: true, offFor: '2m' }), {
      kind: 'shutdown',
      conditions: true,
      offMs: 120_000,
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

  it('reports each invalid field with the accepted values', () => {
    assert.deepEqual(
      problems({
        selector: { zone: 3, share: 2, zon: 'a' },
        action: { kind: 'partition', for: '5', direction: 'up', untill: 1 },
      }),
      [
        'selector.zone: must be a pattern, in which * matches any text and ? one character (got 3)',
        'selector.share: must be a fraction > 0 and <= 1, or a percentage up to 100% (got 2)',
        'selector.zon: unknown field',
        'action.direction: must be one of all, writes, watch (got "up")',
        'action.for: must be a duration >= 0 with a unit, such as 1m30s or 500ms (got "5")',
        'action.untill: unknown field',
      ],
    );
    const actual = problems({ action: { kind: 'parition' } }).join('\n');
    assert.match(actual, /selector: must be an object with names, zone.* \(missing\)/);
    assert.match(
      problems({ action: { kind: 'parition' } }).join('\n'),
      /action.kind: must be one of silence, lag.* \(got "parition"\)/,
    );
    assert.deepEqual(problems(7), ['document: must be an object with selector and action (got 7)']);
    assert.match(
      String(action({ kind: 'errors', code: 200 })),
      /action.code: must be an integer >= 400 and <= 599 \(got 200\)/,
    );
    assert.match(String(action({ kind: 'pressure', of: 'pid', manner: 'signal' })), /action.manner: must be forced/);
    assert.match(String(action({ kind: 'crash', for: '3s' })), /action.for: unknown field/);
  });

  it('parses a script of faults with their times', () => {
    const read = readFaultScript([
      { at: '30s', selector: { names: ['a*'] }, action: { kind: 'unhealthy', id: 'x' } },
      { at: '1m', action: { kind: 'clear', id: 'x' } },
      { at: '2m', action: { kind: 'clear' } },
    ]);
    assert.ok('value' in read);
    const seen = read.value.map(({ atMs, act }) => [atMs, act.kind]);
    assert.deepEqual(seen, [
      [30_000, 'post'],
      [60_000, 'clear'],
      [120_000, 'clear'],
    ]);
    const wrong = readFaultScript([
      { at: '30s', action: { kind: 'pleg-hang' } },
      { at: -1, action: { kind: 'clear' } },
    ]);
    assert.deepEqual('problems' in wrong && wrong.problems, [
      '[0].selector: must be an object with names, zone, labels, share or count; {} selects every node (missing)',
      '[1].at: must be a duration >= 0 with a unit, such as 1m30s or 500ms (got -1)',
    ]);
    const none = readFaultScript({});
    assert.match(
      String('problems' in none && none.problems),
      /must be a list of steps, each with at, selector and action/,
    );
  });
});
