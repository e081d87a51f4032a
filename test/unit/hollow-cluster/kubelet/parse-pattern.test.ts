import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { parsePattern } from '../../../../src/hollow-cluster/kubelet/parse-pattern.ts';

describe('a pattern of texts', () => {
  for (const [pattern, text, expected] of [
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['?', '', false],
    ['?', '😀', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
    ['*a?', 'aaab', true],
    ['*a?', 'aaa', true],
    ['*a?', 'a', false],
    ['a.c', 'abc', false],
    ['*', 'two\nlines', true],
    ['a*', '*', false],
  ] as const) {
    it(`${JSON.stringify(pattern)} ${expected ? 'matches' : 'does not match'} ${JSON.stringify(text)}`, () => {
      assert.equal(parsePattern(pattern).matches(text), expected);
    });
  }

  it('matches as an expression does', () => {
    const texts = fc.array(fc.constantFrom('a', 'b'), { maxLength: 8 }).map((parts) => parts.join(''));
    const patterns = fc.array(fc.constantFrom('a', 'b', '*', '?'), { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll(/\*+/g, '.*').replaceAll('?', '.')}$`);
        assert.equal(parsePattern(pattern).matches(text), expression.test(text));
      }),
      { numRuns: 5_000 },
    );
  });

  it('takes steps in proportion to both lengths at most', () => {
    const startedMs = performance.now();
    assert.equal(parsePattern('*-*-*-*-*:404').matches('-'.repeat(20_000)), false);
    // An expression with five stars takes hours.
    assert.ok(performance.now() - startedMs < 10_000);
  });
});
