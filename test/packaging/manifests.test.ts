// The manifests say what the chart says: as files, and as kustomize puts them together.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseControllerConfig } from '../../src/cli/controller-config.ts';
import { manifestPages, namespaceObjects, overlayValues, plainRendering } from './manifest-pages.ts';
import { buildKustomization, type KubeManifest, parseManifests, pick, root } from './render.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** In an order of their own: kustomize and helm each have another. */
function sorted(objects: readonly KubeManifest[]): readonly KubeManifest[] {
  const key = ({ kind, metadata }: KubeManifest): string => `${kind} ${metadata.name}`;
  return [...objects].sort((a, b) => key(a).localeCompare(key(b)));
}

test('what is rendered from the chart is what the chart renders: npm run manifests', () => {
  for (const { path, text } of manifestPages()) assert.equal(read(path), text, `${path} is out of step`);
});

test('the base and install.yaml are the chart with its own values, and the namespace', () => {
  const wanted = sorted([...namespaceObjects(), ...plainRendering()]);
  assert.deepEqual(sorted(buildKustomization('base')), wanted);
  assert.deepEqual(sorted(parseManifests(read('manifests/install.yaml'))), wanted);
});

test('every overlay has its values', () => {
  const folders = globSync('manifests/overlays/*', { cwd: root }).map((path) => path.split('/').at(-1) ?? '');
  assert.deepEqual(folders.sort(), Object.keys(overlayValues).sort());
});

for (const [overlay, values] of Object.entries(overlayValues)) {
  test(`the overlay ${overlay} is the chart with its values`, () => {
    const wanted = sorted([...namespaceObjects(), ...plainRendering(values)]);
    assert.deepEqual(sorted(buildKustomization(`overlays/${overlay}`)), wanted);
  });
}

test('the static pod gives flags that the controller takes, and probes the address that it serves', () => {
  const pod = pick(parseManifests(read('manifests/static-pod/node-lifecycle-controller.yaml')), 'Pod') as unknown as {
    spec: { containers: { args: string[]; livenessProbe: { httpGet: object }; readinessProbe: { httpGet: object } }[] };
  };
  const [container] = pod.spec.containers;
  const [command, ...flags] = container?.args ?? [];
  assert.equal(command, 'controller');
  const outcome = parseControllerConfig(flags, () => '');
  assert.ok('config' in outcome, JSON.stringify(outcome));
  const { healthProbeBindAddress } = outcome.config;
  assert.deepEqual(container?.livenessProbe.httpGet, { ...(healthProbeBindAddress as object), path: '/livez' });
  assert.deepEqual(container?.readinessProbe.httpGet, { ...(healthProbeBindAddress as object), path: '/readyz' });
});
