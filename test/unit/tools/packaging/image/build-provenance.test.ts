import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildProvenance } from '../../../../../tools/packaging/image/build-provenance.ts';
import { listImagePackages } from '../../../../../tools/packaging/image/image-packages.ts';
import { readPins } from '../../../../../tools/packaging/image/pinned-inputs.ts';

const packages = listImagePackages(readPins(), 'arm64');

interface Predicate {
  readonly buildDefinition: {
    readonly externalParameters: object;
    readonly resolvedDependencies: readonly { readonly digest: Readonly<Record<string, string>> }[];
  };
}

test('the provenance names the commit, or that files differ from it', () => {
  const source = { url: 'https://example.com/nlc', commit: 'c0', changed: false };
  const clean = buildProvenance(source, packages, 'f0') as Predicate;
  const digests = clean.buildDefinition.resolvedDependencies.map(({ digest }) => digest);
  assert.deepEqual(digests.slice(0, 2), [{ gitCommit: 'c0' }, { sha256: 'f0' }]);
  assert.equal(digests.length, packages.length + 2);
  const changed = buildProvenance({ ...source, changed: true }, packages, 'f0') as Predicate;
  assert.ok(changed.buildDefinition.resolvedDependencies.every(({ digest }) => digest['gitCommit'] === undefined));
  assert.deepEqual(changed.buildDefinition.externalParameters, { source: source.url, commit: 'c0', changed: true });
});
