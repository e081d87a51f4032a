// Every Event has a row in docs/events.md.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { controllerEvents, kubeletEvents, schedulerEvents } from '../../tools/docs/event-rows.ts';
import { runtimeEvent } from '../../src/hollow-cluster/kubelet/runtime/describe-runtime-event.ts';

const root = join(import.meta.dirname, '..', '..');
const rows = [...controllerEvents, ...kubeletEvents, ...schedulerEvents];
const makers = new Set(rows.map(({ madeBy }) => madeBy));
const reasons = new Set(rows.map(({ draft }) => draft.reason));

/** Calls that pass an Event on; its creation has a row or is checked below. */
const handedOn: Readonly<Record<string, string>> = {
  'src/hollow-cluster/kubelet/node-status/node-composer.ts': '{ about, type, reason, message }',
  'src/hollow-cluster/kubelet/runtime/hollow-runtime.ts': 'describeRuntimeEvent(targetOf(pod), part, text)',
};

interface Found {
  readonly path: string;
  readonly argument: string;
}

function calls(pattern: RegExp): readonly Found[] {
  return globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !path.startsWith('src/machinery/events/') && !path.startsWith('src/machinery/ports/'))
    .flatMap((path) => {
      const found = [...readFileSync(join(root, path), 'utf8').matchAll(pattern)];
      return found.map(([, argument = '']) => ({ path, argument: argument.trim() }));
    });
}

function hasRow({ path, argument }: Found): boolean {
  if (handedOn[path] === argument) return true;
  const maker = /^(\w+)\(/u.exec(argument)?.[1];
  if (maker !== undefined) return makers.has(maker);
  const reason = /reason: '(\w+)'/u.exec(argument)?.[1];
  return reason !== undefined && reasons.has(reason);
}

test('every event that is recorded has a row', () => {
  const found = calls(/\brecorder\)?\??\.record\(([^;]*)\);/gu);
  assert.ok(found.length >= 20, `only ${found.length} calls found; does the pattern still match?`);
  const left = found.filter((each) => !hasRow(each));
  assert.deepEqual(left, []);
});

test('every function that makes an event has a row', async () => {
  const paths = globSync('src/**/events.ts', { cwd: root });
  assert.ok(paths.length >= 8);
  for (const path of paths) {
    const exported = Object.keys((await import(join(root, path))) as object);
    for (const name of exported) assert.ok(makers.has(name), `${path}: ${name} has no row`);
  }
  for (const name of Object.keys(runtimeEvent)) assert.ok(makers.has(`runtimeEvent.${name}`), `${name} has no row`);
});

test('every reason of kubelet Events about nodes has a row', () => {
  const found = calls(/\brecordEvent\(('(?:Normal|Warning)'[^;]*)\);/gu).flatMap(({ argument }) =>
    [...argument.matchAll(/'((?!Normal|Warning)\w+)'/gu)].map(([, reason = '']) => reason),
  );
  assert.ok(found.length >= 3);
  const left = found.filter((reason) => !reasons.has(reason));
  assert.deepEqual(left, []);
});

test('each row is of an Event that is recorded', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'));
  const text = sources.join('\n');
  const stale = rows.filter(({ draft }) => !text.includes(`'${draft.reason}'`) && !isPieced(draft.reason, text));
  assert.deepEqual(stale, []);
});

/** Reasons that are composed of an outage class or a resource. */
function isPieced(reason: string, text: string): boolean {
  if (reason === 'OutOfcpu') return text.includes('`OutOf${resource}`');
  return ['Over', 'HoldExpired'].some((end) => reason.endsWith(end) && text.includes(`\${outage}${end}\``));
}
