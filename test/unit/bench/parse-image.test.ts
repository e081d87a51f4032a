import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseImage } from '../../bench/parse-image.ts';

const containerfile = `FROM node AS build
ENV BUILD=1
ENTRYPOINT ["/bin/sh"]
FROM distroless
ENV NODE_ENV=production NODE_OPTIONS="--a --b" \\
    OTHER=x
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=4", "/app/nlc.js"]
CMD ["controller"]
`;

test('options and environment are those of the last stage', () => {
  assert.deepEqual(parseImage(containerfile), {
    folder: '/app',
    nodeArgs: ['--max-semi-space-size=4'],
    env: { NODE_ENV: 'production', NODE_OPTIONS: '--a --b', OTHER: 'x' },
  });
});

test('an entry point that is not Node.js is rejected', () => {
  assert.throws(() => parseImage('FROM x\nENTRYPOINT ["/bin/nlc"]\n'), /ENTRYPOINT: must be node/u);
  assert.throws(() => parseImage('FROM x\n'), /ENTRYPOINT: must be node/u);
});

test('the Containerfile of this project can be read', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../Containerfile'), 'utf8');
  const { nodeArgs, env } = parseImage(text);
  assert.deepEqual(
    nodeArgs.filter((arg) => !arg.startsWith('--')),
    [],
  );
  assert.equal(env['NODE_ENV'], 'production');
});
