import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { FairQueue } from '../../../../src/machinery/queueing/fair-queue.ts';

const weights = { urgent: 4, normal: 2, slow: 1 } as const;
type Name = keyof typeof weights;
const names = Object.keys(weights) as readonly Name[];

function takeAll(queue: FairQueue<Name, string>): readonly string[] {
  const taken: string[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) taken.push(item);
  return taken;
}

test('property: every item that was added and not removed is taken once, in order within its flow', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...names)), fc.nat(5), (flows, removed) => {
      const queue = new FairQueue<Name, string>(weights);
      const items = flows.map((name, index) => ({ name, text: `${name} ${index}` }));
      for (const { name, text } of items) queue.add(name, text);
      for (const { name, text } of items.slice(0, removed)) queue.remove(name, text);
      const left = items.slice(removed);
      assert.equal(queue.size, left.length);
      const taken = takeAll(queue);
      for (const flow of names) {
        const expected = left.filter(({ name }) => name === flow).map(({ text }) => text);
        const found = taken.filter((text) => text.startsWith(`${flow} `));
        assert.deepEqual(found, expected);
      }
      assert.equal(queue.size, 0);
    }),
  );
});

test('non-empty flows share by their weights', () => {
  const queue = new FairQueue<Name, string>(weights);
  for (const name of names) for (let place = 0; place < 70; place += 1) queue.add(name, `${name} ${place}`);
  const first = takeAll(queue).slice(0, 70);
  const counts = names.map((name) => first.filter((text) => text.startsWith(`${name} `)).length);
  assert.deepEqual(counts, [40, 20, 10]);
});

test('an item of an urgent flow waits for at most one item of a long flow', () => {
  const queue = new FairQueue<Name, string>(weights);
  for (let place = 0; place < 1_000; place += 1) queue.add('slow', `slow ${place}`);
  for (let place = 0; place < 500; place += 1) queue.take();
  queue.add('urgent', 'recovered');
  const next = [queue.take(), queue.take()];
  assert.ok(next.includes('recovered'), next.join(', '));
});

test('a flow that was empty does not accumulate a share', () => {
  const queue = new FairQueue<Name, string>(weights);
  for (let place = 0; place < 100; place += 1) queue.add('slow', `slow ${place}`);
  for (let place = 0; place < 50; place += 1) queue.take();
  for (let place = 0; place < 50; place += 1) queue.add('urgent', `urgent ${place}`);
  const next = Array.from({ length: 25 }, () => queue.take());
  assert.equal(next.filter((text) => text?.startsWith('slow ')).length, 5);
});
