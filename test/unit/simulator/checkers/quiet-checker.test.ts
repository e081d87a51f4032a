import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuietChecker } from '../../../simulator/checkers/quiet-checker.ts';
import type { RequestLine } from '../../../../src/simulator/network/network.ts';

const renewal: RequestLine = line('election', 'replace', 'leases');

function line(client: string, verb: RequestLine['verb'], resource: RequestLine['resource']): RequestLine {
  return { by: { process: 'replica-1', client }, verb, resource, name: 'x' };
}

function reports(sent: readonly RequestLine[]): readonly string[] {
  const texts: string[] = [];
  const checker = new QuietChecker((_invariant, _subject, text) => texts.push(text));
  for (const request of sent) checker.onSent(request);
  checker.check(60_000);
  return texts;
}

test('a renewal every two seconds is what a quiet leader sends, and one a second is too many', () => {
  assert.deepEqual(reports(Array.from({ length: 31 }, () => renewal)), []);
  assert.equal(reports(Array.from({ length: 60 }, () => renewal)).length, 1);
});

test('a request of another kind is one too many, and what was sent before the last disturbance does not count', () => {
  assert.match(reports([line('main', 'get', 'nodes')])[0] ?? '', /main get nodes\/x .* 1 times/);
  const reads = [line('freshness', 'get', 'leases'), line('freshness', 'get', 'leases')];
  assert.deepEqual(reports(reads.slice(1)), [], 'the silence of a node may be confirmed once');
  assert.match(reports(reads)[0] ?? '', /freshness get leases\/x .* 2 times/);
  const texts: string[] = [];
  const checker = new QuietChecker((_invariant, _subject, text) => texts.push(text));
  checker.onSent(line('main', 'get', 'nodes'));
  checker.restart();
  checker.check(60_000);
  assert.deepEqual(texts, []);
});
