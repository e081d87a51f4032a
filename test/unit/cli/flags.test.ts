import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { FlagDefinition } from '../../../src/cli/flag-definition.ts';
import { readValues } from '../../../src/cli/flag-schema.ts';
import { parseFlags } from '../../../src/cli/flags.ts';

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

test('nothing given: the defaults, in our units', () => {
  assert.deepEqual(read(), {
    problems: [],
    values: {
      leaderElect: true,
      rate: 1,
      period: 5_000,
      format: 'auto',
      bind: { host: '', port: 80 },
      v: 0,
    },
  });
});

test('every way to write a value', () => {
  const table: readonly [readonly string[], object][] = [
    [['--rate=0.5'], { rate: 0.5 }],
    [['--rate', '0.5'], { rate: 0.5 }],
    [['--rate=1e2'], { rate: 100 }],
    [['--period', '1m30s'], { period: 90_000 }],
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
    [['--file', '--odd'], { file: '--odd' }],
    [['--file=a', '--file='], {}],
    [['--bind=0'], { bind: 'off' }],
  ];
  const defaults = read().values;
  for (const [argv, expected] of table) {
    assert.deepEqual(read(...argv), { problems: [], values: { ...defaults, ...expected } }, argv.join(' '));
  }
});

test('every kind of mistake names the flag, what was given and what is accepted', () => {
  const table: readonly [readonly string[], string][] = [
    [['--rate=-1'], '--rate: got -1; accepted: a number, from 0'],
    [['--rate', '-1'], '--rate: got -1; accepted: a number, from 0'],
    [['--rate=abc'], '--rate: got "abc"; accepted: a number, from 0'],
    [['--rate=NaN'], '--rate: got "NaN"; accepted: a number, from 0'],
    [['--rate=0x10'], '--rate: got "0x10"; accepted: a number, from 0'],
    [['--rate='], '--rate: got ""; accepted: a number, from 0'],
    [['--count=1.5'], '--count: got 1.5; accepted: a whole number, from 1 up to 9'],
    [['--count=10'], '--count: got 10; accepted: a whole number, from 1 up to 9'],
    [['--period=5'], '--period: got "5"; accepted: a duration with units, such as 1m30s or 500ms, above 0'],
    [['--period=-5s'], '--period: got "-5s"; accepted: a duration with units, such as 1m30s or 500ms, above 0'],
    [['--leader-elect=maybe'], '--leader-elect: got "maybe"; accepted: true or false'],
    [
      ['--leader-elect', 'false'],
      'stray argument "false"; accepted: flags only; a boolean takes its value with =, as in --flag=false',
    ],
    [['--format=xml'], '--format: got "xml"; accepted: auto, json'],
    [
      ['--bind=:x'],
      '--bind: got ":x"; accepted: host:port, :port for every interface, port 0 for a free one, or 0 to switch it off',
    ],
    [['--feature-gates=A'], '--feature-gates: got "A"; accepted: name=value pairs, separated by commas'],
    [['--period'], '--period: has no value; accepted: a duration with units, such as 1m30s or 500ms, above 0'],
    [['-v'], '--v: has no value; accepted: a whole number'],
    [['--no-such'], '--no-such: unknown flag'],
    [['--no-such', 'value'], '--no-such: unknown flag'],
    [['--no-such=value'], '--no-such: unknown flag'],
    [['--perod=1s'], '--perod: unknown flag; did you mean --period?'],
    [['-period=1s'], '-period: unknown flag; did you mean --period?'],
    [['-x'], '-x: unknown flag'],
    [['--old-flag=3'], '--old-flag: removed: use --rate'],
    [['word'], 'stray argument "word"; accepted: flags only'],
    [['--', '--rate=1'], 'stray argument "--rate=1"; accepted: flags only'],
    [['--__proto__=1'], '--__proto__: unknown flag'],
  ];
  for (const [argv, problem] of table) assert.deepEqual(read(...argv).problems, [problem], argv.join(' '));
});

test('a mistake hides neither the next nor the values around it', () => {
  const { values, problems } = read('--rate=x', '-period=1s', '--count=3', '--unknown=1', 'word', '--v=4');
  assert.equal(problems.length, 4);
  assert.equal(values.count, 3);
  assert.equal(values.v, 4);
  assert.equal(values.rate, 1);
});

test('law: no argument list makes the parser throw, and every flag left over is reported or kept', () => {
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

test('law: a number survives being typed', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e9, noNaN: true }), (rate) => {
      assert.deepEqual(read(`--rate=${rate}`).values.rate, rate);
    }),
  );
});
