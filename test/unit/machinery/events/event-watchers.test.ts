import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventWatchers, type RecordedEvent, watcherQueueMax } from '../../../../src/machinery/events/event-watchers.ts';
import { aboutNode } from '../../../support/event-stand.ts';
import { settled } from '../../../support/manual-clock.ts';
import { RecordingLogger } from '../../../support/fakes.ts';

const event = (name: string): RecordedEvent => ({
  draft: aboutNode(name),
  source: { component: 'c', host: undefined },
});

function listener(): { readonly names: string[]; readonly collect: (event: RecordedEvent) => void } {
  const names: string[] = [];
  return { names, collect: ({ draft }) => void names.push(draft.about.name) };
}

test('a watcher receives events from its subscription until it unsubscribes [H6]', async () => {
  const watchers = new EventWatchers(new RecordingLogger());
  const [a, b] = [listener(), listener()];
  const leave = watchers.add(a.collect);
  watchers.publish(event('e1'));
  watchers.add(b.collect);
  watchers.publish(event('e2'));
  await settled();
  leave();
  watchers.publish(event('e3'));
  await settled();
  const seen = [a.names, b.names];
  assert.deepEqual(seen, [
    ['e1', 'e2'],
    ['e2', 'e3'],
  ]);
});

test('a stalled watcher misses events beyond its queue; the others receive all, in order [H7]', async () => {
  const watchers = new EventWatchers(new RecordingLogger());
  const [a, b] = [listener(), listener()];
  let go = (): void => {};
  const stalled = new Promise<void>((resolve) => {
    go = resolve;
  });
  watchers.add(async (event) => {
    await stalled;
    a.collect(event);
  });
  watchers.add(b.collect);
  const names = Array.from({ length: 1_500 }, (_, index) => `n${index}`);
  for (const name of names.slice(0, 1_000)) watchers.publish(event(name));
  await settled();
  for (const name of names.slice(1_000)) watchers.publish(event(name));
  await settled();
  assert.deepEqual(b.names, names);
  go();
  await settled();
  // One more than its queue size: the first was already being handled.
  assert.deepEqual(a.names, names.slice(0, watcherQueueMax + 1));
});

test('handlers do not run in the stack of the recorder', async () => {
  const watchers = new EventWatchers(new RecordingLogger());
  const { names, collect } = listener();
  watchers.add(collect);
  watchers.publish(event('e1'));
  assert.deepEqual(names, []);
  await settled();
  assert.deepEqual(names, ['e1']);
});

test('a failing watcher is logged and receives the next event', async () => {
  const logger = new RecordingLogger();
  const watchers = new EventWatchers(logger);
  const { names, collect } = listener();
  watchers.add((event) => {
    collect(event);
    throw new Error('no');
  });
  watchers.publish(event('e1'));
  watchers.publish(event('e2'));
  await settled();
  assert.deepEqual(names, ['e1', 'e2']);
  assert.equal(logger.at('warn').length, 2);
});

test('queued events are discarded when a watcher unsubscribes', async () => {
  const watchers = new EventWatchers(new RecordingLogger());
  const { names, collect } = listener();
  const leave = watchers.add(collect);
  watchers.publish(event('e1'));
  leave();
  await settled();
  assert.deepEqual(names, []);
});
