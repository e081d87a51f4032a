import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { FlagDefinition } from '../../../../src/cli/flags/flag-definition.ts';
import { readValues } from '../../../../src/cli/flags/flag-schema.ts';
import { parseFlags } from '../../../../src/cli/flags/flags.ts';

const table = [
  { name: 'leader-elect', kind: 'boolean', group: 'g', description: 'd', default: true },
  { name: 'rate', kind: 'number', group: 'g', description: 'd', default: 1, range: { min: 0 } },
  { name: 'count', kind: 'integer', group: 'g', description: 'd', range: { min: 1, max: 9 } },
  { name: 'period', kind: 'duration', group: 'g', description: 'd', default: '5s', range: { above: 0 } },
  { name: 'feature-gates', kind: 'map', group: 'g', description: 'd' },
  { name: 'file', kind: 'text', group: 'g', description: 'd' },
  { name: 'format', kind: 'text', group: 'g', description: 'd', default: 'auto', choices: ['auto', 'json'] },
  { name: 'bind', kind: 'address', group: 'g', description: 'd', default: ':80' },
  { name: 'v', short: 'v', kind: 'integer', group: 'g', description: 'd', default: 0 },
] as const satisfies readonly FlagDefinition[];

const removed = { 'old-flag': 'removed: use --rate' };

function read(...argv: readonly string[]) {
  const parsed = parseFlags(argv, table, removed);
  const { values, problems } = readValues(table, parsed.inputs);
  return { values, problems: [...parsed.problems, ...problems] };
}

test('without arguments the values are the defaults, durations in milliseconds', () => {
  assert.deepEqual(read(), {
    problems: [],
    values: {
      leaderElect: true,
      rate: 1,
      count: undefined,
      periodMs: 5_000,
      featureGates: undefined,
      file: undefined,
      format: 'auto',
      bind: { host: '', port: 80 },
      v: 0,
    },
  });
});

test('all forms of flag values', () => {
  const table: readonly [readonly string[], object][] = [
    [['--rate=0.5'], { rate: 0.5 }],
    [['--rate', '0.5'], { rate: 0.5 }],
    [['--rate=1e2'], { rate: 100 }],
    [['--period', '1m30s'], { periodMs: 90_000 }],
    [['--leader-elect'], { leaderElect: true }],
    [['--leader-elect=false'], { leaderElect: false }],
    [['--leader-elect=F'], { leaderElect: false }],
    [['--leader-elect=1'], { leaderElect: true }],
    [['-v', '2'], { v: 2 }],
    [['-v=2'], { v: 2 }],
    [['-v2'], { v: 2 }],
    [['--v=2'], { v: 2 }],
    [['--v', '2', '-v3'], { v: 3 }],
    [['--rate=1', '--rate=2'], { rate: 2 }],
    [
      ['--feature-gates=A=true,B=false', '--feature-gates', 'C=true,A=false'],
      { featureGates: { A: 'false', B: 'false', C: 'true' } },
    ],
    [['--feature-gates=A=x=y'], { featureGates: { A: 'x=y' } }],
    [['--file=-'], { file: '-' }],
    [['--file', '-x/y'], { file: '-x/y' }],
    [['--file', '--dashes'], { file: '--dashes' }],
    [['--file=a', '--file='], {}],
    [['--bind=0'], { bind: 'off' }],
  ];
  const defaults = read().values;
  for (const [argv, expected] of table) {
    assert.deepEqual(read(...argv), { problems: [], values: { ...defaults, ...expected } }, argv.join(' '));
  }
});

test('every kind of error names the flag, the accepted values and the given one', () => {
  const table: readonly [readonly string[], string][] = [
    [['--rate=-1'], '--rate: must be a number >= 0 (got -1)'],
    [['--rate', '-1'], '--rate: must be a number >= 0 (got -1)'],
    [['--rate=abc'], '--rate: must be a number >= 0 (got "abc")'],
    [['--rate=NaN'], '--rate: must be a number >= 0 (got "NaN")'],
    [['--rate=0x10'], '--rate: must be a number >= 0 (got "0x10")'],
    [['--rate='], '--rate: must be a number >= 0 (got "")'],
    [['--count=1.5'], '--count: must be an integer >= 1 and <= 9 (got 1.5)'],
    [['--count=10'], '--count: must be an integer >= 1 and <= 9 (got 10)'],
    [['--period=5'], '--period: must be a duration > 0 with a unit, such as 1m30s or 500ms (got "5")'],
    [['--period=-5s'], '--period: must be a duration > 0 with a unit, such as 1m30s or 500ms (got "-5s")'],
    [['--leader-elect=maybe'], '--leader-elect: must be true or false (got "maybe")'],
    [
      ['--leader-elect', 'false'],
      'unexpected argument "false": only flags are accepted; set a boolean flag with =, as in --flag=false',
    ],
    [['--format=xml'], '--format: must be one of auto, json (got "xml")'],
    [
      ['--bind=:x'],
      '--bind: must be HOST:PORT, :PORT for all interfaces, or 0 to disable; port 0 selects a free port (got ":x")',
    ],
    [['--feature-gates=A'], '--feature-gates: must be comma-separated NAME=VALUE pairs (got "A")'],
    [['--period'], '--period: value required: must be a duration > 0 with a unit, such as 1m30s or 500ms'],
    [['-v'], '--v: value required: must be an integer'],
    [['--no-such'], '--no-such: unknown flag'],
    [['--no-such', 'value'], '--no-such: unknown flag'],
    [['--no-such=value'], '--no-such: unknown flag'],
    [['--perod=1s'], '--perod: unknown flag; did you mean --period?'],
    [['-period=1s'], '-period: unknown flag; did you mean --period?'],
    [['-x'], '-x: unknown flag'],
    [['--old-flag=3'], '--old-flag: removed: use --rate'],
    [['word'], 'unexpected argument "word": only flags are accepted'],
    [['--', '--rate=1'], 'unexpected argument "--rate=1": only flags are accepted'],
    [['--__proto__=1'], '--__proto__: unknown flag'],
  ];
  for (const [argv, problem] of table) assert.deepEqual(read(...argv).problems, [problem], argv.join(' '));
});

test('after an error parsing continues with the next argument', () => {
  const { values, problems } = read('--rate=x', '-period=1s', '--count=3', '--unknown=1', 'word', '--v=4');
  assert.equal(problems.length, 4);
  assert.deepEqual([values.count, values.v, values.rate], [3, 4, 1]);
});

test('property: the parser does not throw, and every argument is reported or parsed', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('--rate', '--rate=2', '-v', '-v3', '--', '-', '--leader-elect', '=', '--='),
  );
  fc.assert(
    fc.property(fc.array(word, { maxLength: 8 }), (argv) => {
      const parsed = parseFlags(argv, table, removed);
      const silent = argv.every((argument) => argument === '--');
      assert.ok(silent || parsed.problems.length + parsed.inputs.size > 0 || argv.includes('--file'));
    }),
  );
});

test('property: a formatted number parses to the same number', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (rate) => {
      assert.deepEqual(read(`--rate=${rate}`).values.rate, rate);
    }),
  );
});
