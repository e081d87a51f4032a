import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PinoLogger } from '../../../../src/machinery/adapters/pino-logger.ts';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import { controlsIn } from '../../../support/control-characters.ts';

function loggerOf(format: 'auto' | 'text' | 'json', verbosity = 0) {
  const lines: string[] = [];
  return { lines, logger: PinoLogger.create({ format, verbosity, sink: { write: (line) => void lines.push(line) } }) };
}

test('JSON: one object a line, with time, level, message and fields', () => {
  const { lines, logger } = loggerOf('json');
  logger.child({ stage: 'zones' }).warn({ zone: 'a', unready: 6 }, 'zone fully disrupted');
  assert.equal(lines.length, 1);
  assert.ok(lines[0]!.endsWith('\n'));
  const { ts, ...rest } = JSON.parse(lines[0]!);
  assert.match(ts, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(rest, { level: 'warn', stage: 'zones', zone: 'a', unready: 6, msg: 'zone fully disrupted' });
});

test('format auto writes JSON unless standard error is a terminal', () => {
  const { lines, logger } = loggerOf('auto');
  logger.info({}, 'hello');
  assert.equal(JSON.parse(lines[0]!).msg, 'hello');
});

test('text: time, level, message, fields', () => {
  const { lines, logger } = loggerOf('text');
  logger.info({ zone: 'a', note: 'two words', count: 3, taints: ['x'], none: null }, 'zone fully disrupted');
  assert.match(
    lines[0]!,
    /^\d\d:\d\d:\d\d\.\d{3}Z INFO {2}zone fully disrupted {2}zone=a {2}note="two words" {2}count=3 {2}taints=\["x"\] {2}none=null\n$/,
  );
});

test('a changed verbosity applies to existing and new child loggers', () => {
  const { lines, logger } = loggerOf('json');
  const before = logger.child({ born: 'before' });
  before.debug({}, 'quiet');
  logger.setVerbosity(4);
  before.debug({}, 'loud');
  logger.child({ born: 'after' }).debug({}, 'loud');
  logger.setVerbosity(0);
  before.debug({}, 'quiet');
  const seen = lines.map((line) => JSON.parse(line).msg);
  assert.deepEqual(seen, ['loud', 'loud']);
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

test('an error in any field is logged with its type, message and cause', () => {
  const cause = new Error('socket closed');
  const error = new ApiError({ reason: 'unavailable', code: 503, message: 'no answer', cause });
  const { lines, logger } = loggerOf('json');
  logger.error({ err: error }, 'a');
  logger.error({ why: error, node: 'n' }, 'b');
  const [a, b] = lines.map((line) => JSON.parse(line));
  for (const shown of [a.err, b.why]) {
    assert.deepEqual([shown.name, shown.message, shown.reason], ['ApiError', 'no answer', 'unavailable']);
    assert.deepEqual([shown.code, shown.cause.message], [503, 'socket closed']);
    assert.match(shown.stack, /pino-logger\.test/);
  }
  assert.equal(b.node, 'n');
});

test('the text format omits the stack', () => {
  const { lines, logger } = loggerOf('text');
  logger.error({ err: new Error('boom') }, 'failed');
  assert.match(lines[0]!, /"message":"boom"/);
  assert.doesNotMatch(lines[0]!, /stack/);
});

/** What a value of an object, or a message of another program, may contain. */
const hostile = 'a\x1b[2J\x9b31m\u202eb\u2066\x7f\u2028c';

for (const format of ['text', 'json'] as const) {
  test(`${format}: no value, name of a field or message brings a control character or a mark of text direction into the log`, () => {
    const { lines, logger } = loggerOf(format);
    logger.info({ value: hostile, list: [hostile], map: { [hostile]: hostile }, [hostile]: 1 }, hostile);
    logger.error({ err: new Error(hostile) }, 'failed');
    assert.deepEqual(controlsIn(lines.join('')), []);
    if (format === 'json') assert.equal(JSON.parse(lines[0]!).value, hostile);
  });
}

test('text: a line feed in a message or value begins no new line', () => {
  const { lines, logger } = loggerOf('text');
  logger.info({ value: 'a\nb' }, 'one\ntwo\tthree');
  assert.match(lines[0]!, /INFO {2}one\\ntwo\\tthree {2}value="a\\nb"\n$/);
});
