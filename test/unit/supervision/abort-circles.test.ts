import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AbortCircles } from '../../../src/supervision/abort-circles.ts';

test('all who joined leave once when their signal aborts, and nobody else', () => {
  const circles = new AbortCircles();
  const [one, other] = [new AbortController(), new AbortController()];
  const left: string[] = [];
  const quitter = (): number => left.push('quitter');
  circles.join(one.signal, () => left.push('a'));
  circles.join(one.signal, quitter);
  circles.join(one.signal, () => left.push('b'));
  circles.join(other.signal, () => left.push('c'));
  circles.quit(one.signal, quitter);
  circles.quit(other.signal, quitter);
  one.abort();
  one.abort();
  assert.deepEqual(left, ['a', 'b']);
  other.abort();
  assert.deepEqual(left, ['a', 'b', 'c']);
});

test('a signal has one listener, however many join', () => {
  const circles = new AbortCircles();
  const { signal } = new AbortController();
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  for (let i = 0; i < 100; i += 1) circles.join(signal, () => undefined);
  assert.equal(listeners, 1);
});

test('who joins too late does not leave', () => {
  const circles = new AbortCircles();
  let left = 0;
  circles.join(AbortSignal.abort(), () => (left += 1));
  assert.equal(left, 0);
});
