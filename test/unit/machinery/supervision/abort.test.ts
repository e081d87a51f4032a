import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedAbortListeners } from '../../../../src/machinery/supervision/abort.ts';

test('all callbacks of a signal are called once when it aborts, and no others', () => {
  const listeners = new SharedAbortListeners();
  const [one, other] = [new AbortController(), new AbortController()];
  const left: string[] = [];
  const quitter = (): number => left.push('quitter');
  listeners.add(one.signal, () => left.push('a'));
  listeners.add(one.signal, quitter);
  listeners.add(one.signal, () => left.push('b'));
  listeners.add(other.signal, () => left.push('c'));
  listeners.remove(one.signal, quitter);
  listeners.remove(other.signal, quitter);
  one.abort();
  one.abort();
  assert.deepEqual(left, ['a', 'b']);
  other.abort();
  assert.deepEqual(left, ['a', 'b', 'c']);
});

test('a signal has one event listener for any number of callbacks', () => {
  const listeners = new SharedAbortListeners();
  const { signal } = new AbortController();
  let count = 0;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    count += 1;
    add(...args);
  };
  for (let i = 0; i < 100; i += 1) listeners.add(signal, () => undefined);
  assert.equal(count, 1);
});

test('a callback added after the abort is not called', () => {
  const listeners = new SharedAbortListeners();
  let left = 0;
  listeners.add(AbortSignal.abort(), () => (left += 1));
  assert.equal(left, 0);
});
