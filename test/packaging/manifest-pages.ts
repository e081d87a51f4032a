// The manifests that are rendered from the chart, so that both always say the same. `npm run manifests` writes them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type KubeManifest, parseManifests, renderChart, root } from './render.ts';

const head = '# Rendered from the chart by `npm run manifests`.\n';
/** Helm's own, which would be untrue of what kubectl applies. */
const helmLabels = new Set(['app.kubernetes.io/managed-by', 'helm.sh/chart']);

/** The values of the chart that give what an overlay gives. */
export const overlayValues: Readonly<Record<string, string>> = {
  'detector-only': 'config: { controllers: node-lifecycle-controller }',
  'evictor-only': 'config: { controllers: taint-eviction-controller }',
  'control-plane': `nodeSelector: { node-role.kubernetes.io/control-plane: '' }`,
  prometheus: `
metrics: { podMonitor: { enabled: true } }
networkPolicy: { metricsFrom: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: monitoring } } }] }`,
};

export interface ManifestPage {
  readonly path: string;
  readonly text: string;
}

export function manifestPages(): readonly ManifestPage[] {
  const base = plainRendering('');
  return [
    page('base/resources.yaml', base),
    page('install.yaml', [...namespaceObjects(), ...base]),
    page('overlays/detector-only/patch.yaml', differences('detector-only', base)),
    page('overlays/evictor-only/patch.yaml', differences('evictor-only', base)),
    page('overlays/prometheus/patch.yaml', differences('prometheus', base)),
    page('overlays/prometheus/podmonitor.yaml', plainRendering(overlayValues['prometheus']).filter(isPodMonitor)),
  ];
}

/** The chart's objects without Helm's labels. */
export function plainRendering(values = ''): readonly KubeManifest[] {
  return renderChart({ values }).map((object) => withoutHelm(object) as KubeManifest);
}

export function namespaceObjects(): readonly KubeManifest[] {
  return parseManifests(readFileSync(join(root, 'manifests', 'base', 'namespace.yaml'), 'utf8'));
}

function withoutHelm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHelm);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !helmLabels.has(key));
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutHelm(inner)]));
}

const isPodMonitor = ({ kind }: KubeManifest): boolean => kind === 'PodMonitor';
/** What a mode may change in an object; lists are replaced as a whole. */
const changing = ['rules', 'data', 'spec'] as const;

function differences(overlay: string, base: readonly KubeManifest[]): readonly object[] {
  return plainRendering(overlayValues[overlay]).flatMap((object) => {
    const before = base.find(({ kind, metadata }) => kind === object.kind && metadata.name === object.metadata.name);
    if (before === undefined) return [];
    const changed = changing.filter((field) => JSON.stringify(before[field]) !== JSON.stringify(object[field]));
    return changed.length === 0 ? [] : [patchOf(object, changed)];
  });
}

function patchOf(object: KubeManifest, fields: readonly string[]): object {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace } = metadata;
  const changed = kind === 'Deployment' ? annotationsOf(object) : fieldsOf(object, fields);
  return { apiVersion, kind, metadata: namespace === undefined ? { name } : { name, namespace }, ...changed };
}

/** Another config file changes nothing else of the Deployment; the tests would tell. */
function annotationsOf(deployment: KubeManifest): object {
  const { template } = deployment['spec'] as { template: { metadata: { annotations: object } } };
  return { spec: { template: { metadata: { annotations: template.metadata.annotations } } } };
}

function fieldsOf(object: KubeManifest, fields: readonly string[]): object {
  return Object.fromEntries(fields.map((field) => [field, object[field]]));
}

function page(path: string, objects: readonly object[]): ManifestPage {
  const documents = objects.map((object) => stringify(object, { lineWidth: 0, singleQuote: true }));
  return { path: `manifests/${path}`, text: head + documents.join('---\n') };
}
