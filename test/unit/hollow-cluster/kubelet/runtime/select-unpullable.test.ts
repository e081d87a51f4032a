import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePattern } from '../../../../../src/hollow-cluster/kubelet/parse-pattern.ts';
import { selectPullFailure } from '../../../../../src/hollow-cluster/kubelet/runtime/select-unpullable.ts';

describe('the images that cannot be pulled', () => {
  for (const { pattern, fits, others } of [
    { pattern: 'web:404', fits: ['web:404'], others: ['web:4040', 'my/web:404', 'web', 'WEB:404'] },
    {
      pattern: 'registry.example/*',
      fits: ['registry.example/a/b:1'],
      others: ['registry-example/a', 'a/registry.example/'],
    },
    { pattern: 'web:?', fits: ['web:1'], others: ['web:', 'web:10'] },
    { pattern: '**', fits: ['a', 'a/b@sha256:0'], others: [] },
    { pattern: 'web:latest', fits: ['web', 'web:latest'], others: ['web:1', 'web@sha256:0'] },
    { pattern: 'web', fits: ['web'], others: ['web:latest', 'web:1'] },
    { pattern: 'reg:5000/web:latest', fits: ['reg:5000/web'], others: ['reg:5000/web:1'] },
  ]) {
    it(`match ${pattern} as a whole, with the tag latest if they have none`, () => {
      const patterns = ['none:*', pattern].map(parsePattern);
      for (const image of fits) {
        const expected = `not found: the image matches the pattern ${JSON.stringify(pattern)} of images that cannot be pulled`;
        assert.equal(selectPullFailure(image, patterns), expected);
      }
      for (const image of others) assert.equal(selectPullFailure(image, patterns), undefined, image);
    });
  }

  it('are none without a pattern', () => {
    assert.equal(selectPullFailure('web:404', []), undefined);
  });
});
