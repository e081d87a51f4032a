// Whatever is told as an Event has a row in docs/events.md.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { controllerEvents, kubeletEvents } from '../docs/event-rows.ts';
import { runtimeEvent } from '../../src/kubelet/runtime/describe-runtime-event.ts';

const root = join(import.meta.dirname, '..', '..');
const rows = [...controllerEvents, ...kubeletEvents];
const makers = new Set(rows.map(({ madeBy }) => madeBy));
const reasons = new Set(rows.map(({ draft }) => draft.reason));

/** What is handed on as it came; the rows of what it may be are looked for below, or are of the one that made it. */
const handedOn: Readonly<Record<string, string>> = {
  'src/kubelet/sync-loop/pod-handlers.ts': 'event',
  'src/kubelet/node-status/node-composer.ts': '{ about, type, reason, message }',
  'src/kubelet/runtime/hollow-runtime.ts': 'describeRuntimeEvent({ uid, namespace, name }, part, text)',
};

interface Found {
  readonly path: string;
  readonly argument: string;
}

function calls(pattern: RegExp): readonly Found[] {
  return globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !path.startsWith('src/events/') && !path.startsWith('src/ports/'))
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
  assert.ok(found.length >= 20, `only ${found.length} found: are they written otherwise now?`);
  assert.deepEqual(
    found.filter((each) => !hasRow(each)),
    [],
  );
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

test('every reason that a kubelet tells of its node has a row', () => {
  const found = calls(/\brecordNode(?:Status)?Event\(([^;]*)\);/gu).flatMap(({ argument }) =>
    [...argument.matchAll(/'((?!Normal|Warning)\w+)'/gu)].map(([, reason = '']) => reason),
  );
  assert.ok(found.length >= 3);
  assert.deepEqual(
    found.filter((reason) => !reasons.has(reason)),
    [],
  );
});

test('each row is of something that is told', () => {
  const sources = globSync('src/**/*.ts', { cwd: root }).map((path) => readFileSync(join(root, path), 'utf8'));
  const text = sources.join('\n');
  const stale = rows.filter(({ draft }) => !text.includes(`'${draft.reason}'`) && !isPieced(draft.reason, text));
  assert.deepEqual(stale, []);
});

/** Reasons that are put together: from the name of an outage, or of a resource. */
function isPieced(reason: string, text: string): boolean {
  if (reason === 'OutOfcpu') return text.includes('`OutOf${resource}`');
  return ['Over', 'HoldExpired'].some((end) => reason.endsWith(end) && text.includes(`\${outage}${end}\``));
}
