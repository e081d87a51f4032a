import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WriteTurns } from '../../../../src/controller/writer/write-turns.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

class Stand {
  readonly clock = new ManualClock();
  readonly stop = new AbortController();
  readonly turns = new WriteTurns({ clock: this.clock, signal: this.stop.signal });
  readonly begun: string[] = [];
  readonly #ends = new Map<string, { readonly resolve: () => void; readonly reject: (error: Error) => void }>();

  async write(object: string, name: string): Promise<void> {
    await this.turns.run(object, () => {
      this.begun.push(name);
      return new Promise<void>((resolve, reject) => this.#ends.set(name, { resolve, reject }));
    });
  }

  async end(name: string, error?: Error): Promise<void> {
    if (error === undefined) this.#ends.get(name)?.resolve();
    else this.#ends.get(name)?.reject(error);
    await settled();
  }
}

test('the second write of an object begins when the first has ended, however it ends', async () => {
  const stand = new Stand();
  const first = assert.rejects(stand.write('n1', 'a'), /refused/);
  const others = [stand.write('n1', 'b'), stand.write('n1', 'c')];
  assert.deepEqual(stand.begun, ['a'], 'the first begins at once');
  await stand.end('a', new Error('refused'));
  await first;
  assert.deepEqual(stand.begun, ['a', 'b']);
  await stand.end('b');
  await stand.end('c');
  await Promise.all(others);
  assert.deepEqual(stand.begun, ['a', 'b', 'c']);
});

test('objects do not wait for each other', async () => {
  const stand = new Stand();
  const writes = [stand.write('n1', 'a'), stand.write('n2', 'b')];
  assert.deepEqual(stand.begun, ['a', 'b']);
  for (const name of stand.begun) await stand.end(name);
  await Promise.all(writes);
});

test('a write that hangs holds up the next one of its object for 5 s', async () => {
  const stand = new Stand();
  const writes = [stand.write('n1', 'a'), stand.write('n1', 'b')];
  await stand.clock.advance(4_999);
  assert.deepEqual(stand.begun, ['a']);
  await stand.clock.advance(1);
  assert.deepEqual(stand.begun, ['a', 'b']);
  for (const name of stand.begun) await stand.end(name);
  await Promise.all(writes);
});

test('an abort ends the waiting; drained waits for all', async () => {
  const stand = new Stand();
  const writes = [stand.write('n1', 'a'), stand.write('n1', 'b')];
  let isDrained = false;
  const drained = stand.turns.drained().then(() => (isDrained = true));
  stand.stop.abort();
  await settled();
  assert.deepEqual([stand.begun, isDrained], [['a', 'b'], false]);
  for (const name of stand.begun) await stand.end(name);
  await Promise.all([...writes, drained]);
});
