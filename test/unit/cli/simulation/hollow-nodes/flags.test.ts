import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { imagePatternsPattern, parseImagePatterns } from '../../../../../src/cli/simulation/hollow-nodes/flags.ts';

describe('--unpullable-images', () => {
  it('is a comma-separated list of patterns, by default none', () => {
    const texts = (text: string | undefined): readonly string[] => parseImagePatterns(text).map((each) => each.text);
    assert.deepEqual(texts('web:404,reg.example:5000/*,a?b@sha256:*'), [
      'web:404',
      'reg.example:5000/*',
      'a?b@sha256:*',
    ]);
    assert.deepEqual(texts(undefined), []);
  });

  for (const [text, accepted] of [
    ['web:404', true],
    ['*,reg.example:5000/team_a/web-1@sha256:*', true],
    ['', false],
    ['web,', false],
    ['web, db', false],
    ['web;db', false],
    ['[a-z]*', false],
  ] as const) {
    it(`${accepted ? 'accepts' : 'rejects'} ${JSON.stringify(text)}`, () => {
      assert.equal(imagePatternsPattern.test(text), accepted);
    });
  }
});
