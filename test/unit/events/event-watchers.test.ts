import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventWatchers, type ToldEvent, watcherQueueMax } from '../../../src/events/event-watchers.ts';
import { aboutNode } from '../../support/event-stand.ts';
import { settled } from '../../support/manual-clock.ts';
import { KeepingLogger } from '../../support/quiet.ts';

const told = (name: string): ToldEvent => ({
  draft: aboutNode(name),
  source: { component: 'c', host: undefined },
});

function listener(): { readonly names: string[]; readonly hear: (told: ToldEvent) => void } {
  const names: string[] = [];
  return { names, hear: ({ draft }) => void names.push(draft.about.name) };
}

test('a watcher hears of what is told after it came, until it leaves [H6]', async () => {
  const watchers = new EventWatchers(new KeepingLogger());
  const [a, b] = [listener(), listener()];
  const leave = watchers.add(a.hear);
  watchers.tell(told('e1'));
  watchers.add(b.hear);
  watchers.tell(told('e2'));
  await settled();
  leave();
  watchers.tell(told('e3'));
  await settled();
  assert.deepEqual(
    [a.names, b.names],
    [
      ['e1', 'e2'],
      ['e2', 'e3'],
    ],
  );
});

test('who is stalled misses what its queue does not hold; who reads hears all, in order [H7]', async () => {
  const watchers = new EventWatchers(new KeepingLogger());
  const [a, b] = [listener(), listener()];
  let go = (): void => {};
  const stalled = new Promise<void>((resolve) => {
    go = resolve;
  });
  watchers.add(async (event) => {
    await stalled;
    a.hear(event);
  });
  watchers.add(b.hear);
  const names = Array.from({ length: 1_500 }, (_, index) => `n${index}`);
  for (const name of names.slice(0, 1_000)) watchers.tell(told(name));
  await settled();
  for (const name of names.slice(1_000)) watchers.tell(told(name));
  await settled();
  assert.deepEqual(b.names, names);
  go();
  await settled();
  // One more than its queue holds: the first was already in its hands.
  assert.deepEqual(a.names, names.slice(0, watcherQueueMax + 1));
});

test('who tells does not run what a watcher does', async () => {
  const watchers = new EventWatchers(new KeepingLogger());
  const { names, hear } = listener();
  watchers.add(hear);
  watchers.tell(told('e1'));
  assert.deepEqual(names, []);
  await settled();
  assert.deepEqual(names, ['e1']);
});

test('a watcher that fails is named in the log, and hears of the next one', async () => {
  const logger = new KeepingLogger();
  const watchers = new EventWatchers(logger);
  const { names, hear } = listener();
  watchers.add((event) => {
    hear(event);
    throw new Error('no');
  });
  watchers.tell(told('e1'));
  watchers.tell(told('e2'));
  await settled();
  assert.deepEqual(names, ['e1', 'e2']);
  assert.equal(logger.lines.filter(({ level }) => level === 'warn').length, 2);
});

test('what waits for a watcher that leaves is not handled any more', async () => {
  const watchers = new EventWatchers(new KeepingLogger());
  const { names, hear } = listener();
  const leave = watchers.add(hear);
  watchers.tell(told('e1'));
  leave();
  await settled();
  assert.deepEqual(names, []);
});
