// The rules that krew checks for a manifest (krew `internal/index/validation` and its naming guide).
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { buildKrewManifest } from '../../../../tools/packaging/build-krew-manifest.ts';

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly version: string;
    readonly homepage: string;
    readonly shortDescription: string;
    readonly platforms: readonly {
      readonly uri: string;
      readonly sha256: string;
      readonly bin: string;
      readonly selector: { readonly matchExpressions: readonly { readonly key: string; readonly operator: string }[] };
    }[];
  };
}

const sha256 = '0123456789abcdef'.repeat(4);

test('the manifest has what krew requires', () => {
  const text = buildKrewManifest({
    version: '1.2.3',
    url: 'https://a.example/x.tar.gz',
    homepage: 'https://a.example',
    sha256,
  });
  const { apiVersion, kind, metadata, spec } = parse(text) as Manifest;
  assert.deepEqual([apiVersion, kind], ['krew.googlecontainertools.github.com/v1alpha2', 'Plugin']);
  assert.match(metadata.name, /^[\w-]+$/);
  assert.ok(!metadata.name.startsWith('kube'));
  assert.equal(spec.version, 'v1.2.3');
  assert.ok(spec.shortDescription.length <= 50 && !/[.\n]/.test(spec.shortDescription), spec.shortDescription);
  assert.equal(spec.platforms.length, 1);
  const [platform] = spec.platforms;
  assert.match(platform?.uri ?? '', /^https:\/\/.*\.tar\.gz$/);
  assert.match(platform?.sha256 ?? '', /^[0-9a-f]{64}$/);
  assert.ok(platform?.bin !== '' && !platform?.bin.includes('..') && !platform?.bin.startsWith('/'));
  assert.deepEqual(
    platform?.selector.matchExpressions.map(({ key, operator }) => [key, operator]),
    [['os', 'In']],
  );
});
