// Checks the text of the Containerfile, because images cannot be built from it in every test environment, and what `npm run image`
// puts beside the program.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { finalStageOf, parseInstructions } from '../../tools/packaging/image/parse-containerfile.ts';
import { architectures, debianPackagesOf, readPins } from '../../tools/packaging/image/pinned-inputs.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

const instructions = parseInstructions(read('Containerfile'));
const rests = (name: string): readonly string[] =>
  instructions.filter((instruction) => instruction.name === name).map(({ rest }) => rest);
const finalStage = finalStageOf(instructions);
const known = new Set(['FROM', 'WORKDIR', 'COPY', 'RUN', 'LABEL', 'ENV', 'USER', 'EXPOSE', 'ENTRYPOINT', 'CMD']);

test('the Containerfile contains only known instructions', () => {
  for (const { name } of instructions) assert.ok(known.has(name), name);
});

test('every base image is pinned by a digest, and the last one has no shell', () => {
  for (const base of rests('FROM')) assert.match(base, /@sha256:[0-9a-f]{64}( AS \w+)?$/);
  assert.match(rests('FROM').at(-1) ?? '', /^gcr\.io\/distroless\/nodejs\d+-debian\d+:nonroot@/);
});

test('the runtime has the major version of Node.js of the tests', () => {
  const { version } = JSON.parse(read('tools/node-runtime/package.json')) as { version: string };
  const [major] = version.split('.');
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

test('the image without a container engine has the Node.js of the tests, and the Debian release of the base', () => {
  const pins = readPins();
  const { version } = JSON.parse(read('tools/node-runtime/package.json')) as { version: string };
  assert.equal(pins.node.version, version, 'run `npm run image:pins`');
  for (const architecture of architectures) assert.match(pins.node[architecture].integrity, /^sha512-/);
  assert.deepEqual([pins.debian.suite, /-(trixie)-/.exec(rests('FROM')[0] ?? '')?.[1]], ['trixie', 'trixie']);
  assert.match(rests('FROM').at(-1) ?? '', /-debian13:/);
});

test('every Debian package is pinned by a checksum, the same version for both platforms', () => {
  const pins = readPins();
  for (const one of pins.debian.packages) {
    assert.match(one.sha256, /^[0-9a-f]{64}$/, one.name);
    assert.match(one.path, /^debian(-security)?\/pool\//, one.name);
  }
  const [amd64, arm64] = architectures.map((architecture) =>
    debianPackagesOf(pins, architecture).map(({ name, version }) => `${name} ${version}`),
  );
  assert.deepEqual(amd64, arm64);
});

test('the final stage copies the build alone, into the folder of the program', () => {
  const copies = finalStage.filter(({ name }) => name === 'COPY').map(({ rest }) => rest);
  const folder = finalStage.find(({ name }) => name === 'WORKDIR')?.rest;
  assert.deepEqual(copies, [`--from=build /src/dist ${folder}`]);
});
