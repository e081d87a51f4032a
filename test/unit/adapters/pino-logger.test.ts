import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PinoLogger } from '../../../src/adapters/pino-logger.ts';
import { ApiError } from '../../../src/api/api-error.ts';

function loggerOf(format: 'auto' | 'text' | 'json', verbosity = 0) {
  const lines: string[] = [];
  return { lines, logger: PinoLogger.create({ format, verbosity, sink: { write: (line) => void lines.push(line) } }) };
}

test('JSON: one object a line, with time, level, message and fields', () => {
  const { lines, logger } = loggerOf('json');
  logger.child({ stage: 'zones' }).warn({ zone: 'a', unready: 6 }, 'zone is dark');
  assert.equal(lines.length, 1);
  assert.ok(lines[0]!.endsWith('\n'));
  const { ts, ...rest } = JSON.parse(lines[0]!);
  assert.match(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, { level: 'warn', stage: 'zones', zone: 'a', unready: 6, msg: 'zone is dark' });
});

test('what is no terminal gets JSON when nobody chose', () => {
  const { lines, logger } = loggerOf('auto');
  logger.info({}, 'hello');
  assert.equal(JSON.parse(lines[0]!).msg, 'hello');
});

test('text: time, level, sentence, fields', () => {
  const { lines, logger } = loggerOf('text');
  logger.info({ zone: 'a', note: 'two words', count: 3, taints: ['x'], none: null }, 'zone is dark');
  assert.match(
    lines[0]!,
    /^\d\d:\d\d:\d\d\.\d{3}Z INFO {2}zone is dark {2}zone=a {2}note="two words" {2}count=3 {2}taints=\["x"\] {2}none=null\n$/,
  );
});

test('another verbosity is in force for children that are there already, and for those that come', () => {
  const { lines, logger } = loggerOf('json');
  const before = logger.child({ born: 'before' });
  before.debug({}, 'quiet');
  logger.setVerbosity(4);
  before.debug({}, 'loud');
  logger.child({ born: 'after' }).debug({}, 'loud');
  logger.setVerbosity(0);
  before.debug({}, 'quiet');
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).msg),
    ['loud', 'loud'],
  );
});

test('debug lines appear from verbosity 4 on', () => {
  for (const [verbosity, count] of [
    [0, 3],
    [3, 3],
    [4, 4],
  ] as const) {
    const { lines, logger } = loggerOf('json', verbosity);
    logger.debug({}, 'd');
    logger.info({}, 'i');
    logger.warn({}, 'w');
    logger.error({}, 'e');
    assert.equal(lines.length, count);
  }
});

test('an error under any name shows what it is, and its cause', () => {
  const cause = new Error('socket closed');
  const error = new ApiError({ reason: 'unavailable', code: 503, message: 'no answer', cause });
  const { lines, logger } = loggerOf('json');
  logger.error({ err: error }, 'a');
  logger.error({ why: error, node: 'n' }, 'b');
  const [a, b] = lines.map((line) => JSON.parse(line));
  for (const shown of [a.err, b.why]) {
    assert.equal(shown.name, 'ApiError');
    assert.equal(shown.message, 'no answer');
    assert.equal(shown.reason, 'unavailable');
    assert.equal(shown.code, 503);
    assert.equal(shown.cause.message, 'socket closed');
    assert.match(shown.stack, /pino-logger\.test/);
  }
  assert.equal(b.node, 'n');
});

test('text leaves the stack out', () => {
  const { lines, logger } = loggerOf('text');
  logger.error({ err: new Error('boom') }, 'failed');
  assert.match(lines[0]!, /"message":"boom"/);
  assert.doesNotMatch(lines[0]!, /stack/);
});
