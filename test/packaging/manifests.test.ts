// The manifests equal the chart, as files and as built by kustomize.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseControllerConfig } from '../../src/cli/controller/config.ts';
import {
  manifestPages,
  namespaceObjects,
  overlayValues,
  plainRendering,
} from '../../tools/manifests/manifest-pages.ts';
import { buildKustomization, type KubeManifest, parseManifests, pick, root } from '../../tools/manifests/render.ts';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** Sorted, because kustomize and helm use different orders. */
function sorted(objects: readonly KubeManifest[]): readonly KubeManifest[] {
  const key = ({ kind, metadata }: KubeManifest): string => `${kind} ${metadata.name}`;
  return [...objects].sort((a, b) => key(a).localeCompare(key(b)));
}

test('the rendered manifests are up to date: npm run manifests', () => {
  for (const { path, text } of manifestPages()) assert.equal(read(path), text, `${path} is not up to date`);
});

test('the base and install.yaml equal the chart with its default values, and the namespace', () => {
  const wanted = sorted([...namespaceObjects(), ...plainRendering()]);
  assert.deepEqual(sorted(buildKustomization('base')), wanted);
  assert.deepEqual(sorted(parseManifests(read('manifests/install.yaml'))), wanted);
});

test('every overlay has chart values', () => {
  const folders = globSync('manifests/overlays/*', { cwd: root }).map((path) => path.split('/').at(-1) ?? '');
  assert.deepEqual(folders.sort(), Object.keys(overlayValues).sort());
});

for (const [overlay, values] of Object.entries(overlayValues)) {
  test(`the overlay ${overlay} equals the chart with its values`, () => {
    const wanted = sorted([...namespaceObjects(), ...plainRendering(values)]);
    assert.deepEqual(sorted(buildKustomization(`overlays/${overlay}`)), wanted);
  });
}

test('the static pod has the probes of the chart, of which the first one waits for the start', () => {
  const probesOf = (object: KubeManifest): unknown => {
    const [container] = (object as unknown as { spec: { containers: Record<string, Record<string, unknown>>[] } }).spec
      .containers;
    return ['livenessProbe', 'readinessProbe'].map((name) => ({ ...container?.[name], httpGet: undefined }));
  };
  const { spec } = pick(plainRendering(), 'Deployment') as unknown as { spec: { template: KubeManifest } };
  const pod = pick(parseManifests(read('manifests/static-pod/node-lifecycle-controller.yaml')), 'Pod');
  assert.deepEqual(probesOf(pod), probesOf(spec.template));
  for (const probe of probesOf(pod) as { initialDelaySeconds?: number }[])
    assert.ok((probe.initialDelaySeconds ?? 0) > 5, 'a probe before the program serves leaves an Event Unhealthy');
});

test('the static pod has valid flags, and its probes use the health probe address', () => {
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
