// Checks the text of the Containerfile, because images cannot be built in every test environment.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

function instructionsOf(text: string): readonly Instruction[] {
  const joined = text.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  const lines = joined.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => ({ name: line.split(' ', 1)[0] ?? '', rest: line.slice(line.indexOf(' ') + 1) }));
}

const instructions = instructionsOf(read('Containerfile'));
const rests = (name: string): readonly string[] =>
  instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
const finalStage = instructions.slice(instructions.findLastIndex(({ name }) => name === 'FROM'));
const known = new Set(['FROM', 'WORKDIR', 'COPY', 'RUN', 'LABEL', 'ENV', 'USER', 'EXPOSE', 'ENTRYPOINT', 'CMD']);

test('the Containerfile contains only known instructions', () => {
  for (const { name } of instructions) assert.ok(known.has(name), name);
});

test('every base image is pinned by a digest, and the last one has no shell', () => {
  for (const base of rests('FROM')) assert.match(base, /@sha256:[0-9a-f]{64}( AS \w+)?$/);
  assert.match(rests('FROM').at(-1) ?? '', /^gcr\.io\/distroless\/nodejs\d+-debian\d+:nonroot@/);
});

test('the runtime has the major version of Node.js of the tests', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  const major = devDependencies['node']?.split('.')[0];
  assert.match(rests('FROM')[0] ?? '', new RegExp(`/node:${major}-`));
  assert.match(rests('FROM').at(-1) ?? '', new RegExp(`/nodejs${major}-`));
});

test('the container runs as non-root without a shell, and sets its heap size from the memory limit', () => {
  const of = (name: string): string | undefined => finalStage.find((instruction) => instruction.name === name)?.rest;
  assert.equal(of('USER'), '65532:65532');
  assert.equal(of('RUN'), undefined);
  const entry = JSON.parse(of('ENTRYPOINT') ?? '') as readonly string[];
  assert.deepEqual(entry, [
    '/nodejs/bin/node',
    '--max-old-space-size-percentage=75',
    '--max-semi-space-size=4',
    '/app/nlc.js',
  ]);
  assert.deepEqual(JSON.parse(of('CMD') ?? ''), ['controller']);
});

test('the files that the build copies exist and are not excluded by .dockerignore', () => {
  const included = new Set(read('.dockerignore').split('\n'));
  for (const copy of rests('COPY').filter((rest) => !rest.startsWith('--from'))) {
    for (const path of copy.split(' ').slice(0, -1)) {
      assert.ok(existsSync(join(root, path)), path);
      assert.ok(included.has(`!${path}`), `.dockerignore excludes ${path}`);
    }
  }
  assert.ok(included.has('*'));
});
