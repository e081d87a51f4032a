// The manifests that are rendered from the chart, so that both stay equal. `npm run manifests` writes them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { type ManifestPage, policyCrdPages } from './policy-crd-pages.ts';
import { chart, type KubeManifest, parseManifests, release, renderChart, root } from './render.ts';

const head = '# Rendered from the chart by `npm run manifests`.\n';
/** Labels that Helm adds, which do not apply to objects that kubectl applies. */
const helmLabels = new Set(['app.kubernetes.io/managed-by', 'helm.sh/chart']);

/** The chart values that correspond to an overlay. */
export const overlayValues: Readonly<Record<string, string>> = {
  'detector-only': 'mode: detector-only',
  'evictor-only': 'mode: evictor-only',
  shadow: 'mode: shadow',
  'policy-objects': 'policies: { source: crd }',
  'control-plane': presetValues('control-plane'),
  prometheus: `
metrics: { podMonitor: { enabled: true }, prometheusRule: { enabled: true } }
networkPolicy: { metricsFrom: [{ namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: monitoring } } }] }`,
};

/** The values of a preset of the chart. */
export function presetValues(preset: string): string {
  return readFileSync(join(chart, 'presets', `${preset}.yaml`), 'utf8');
}

export function manifestPages(): readonly ManifestPage[] {
  const base = plainRendering('');
  return [
    page('base/resources.yaml', base),
    ...policyCrdPages(),
    page('install.yaml', [...namespaceObjects(), ...base]),
    ...Object.keys(overlayValues).map((overlay) => page(`overlays/${overlay}/patch.yaml`, differences(overlay, base))),
    page('static-pod/rbac.yaml', staticPodRoles()),
    page('overlays/control-plane/daemonset.yaml', ofOverlay('control-plane', 'DaemonSet')),
    page('overlays/prometheus/podmonitor.yaml', ofOverlay('prometheus', 'PodMonitor')),
    page('overlays/prometheus/prometheusrule.yaml', ofOverlay('prometheus', 'PrometheusRule')),
  ];
}

/** The chart's objects without Helm's labels. */
export function plainRendering(values = '', name = release): readonly KubeManifest[] {
  return renderChart({ values, release: name }).map((object) => withoutHelm(object) as KubeManifest);
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

/** The user in the kubeconfig of the static pod, which has no service account. */
export const staticPodUser = 'node-lifecycle-controller';

/** The roles of the chart under other names, bound to that user. */
function staticPodRoles(): readonly KubeManifest[] {
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: staticPodUser }];
  const objects = plainRendering('', 'node-lifecycle-controller-static');
  const bindings = objects.filter(({ kind }) => kind.endsWith('RoleBinding'));
  const bound = new Set(bindings.map((binding) => (binding['roleRef'] as { readonly name: string }).name));
  const roles = objects.filter(({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && bound.has(metadata.name));
  return [...roles, ...bindings.map((binding) => ({ ...binding, subjects }))];
}

function ofOverlay(overlay: string, wanted: string): readonly KubeManifest[] {
  return plainRendering(overlayValues[overlay]).filter(({ kind }) => kind === wanted);
}

/** The fields that values may change in an object; lists are replaced as a whole. */
const changing = ['rules', 'data', 'spec'] as const;

function differences(overlay: string, base: readonly KubeManifest[]): readonly object[] {
  const wanted = plainRendering(overlayValues[overlay]);
  return base.flatMap((before) => {
    const object = wanted.find(({ kind, metadata }) => kind === before.kind && metadata.name === before.metadata.name);
    if (object === undefined) return [{ ...identityOf(before), $patch: 'delete' }];
    const changed = object.kind === 'Deployment' ? deploymentChanges(before, object) : changesOf(before, object);
    return Object.keys(changed).length === 0 ? [] : [{ ...identityOf(object), ...changed }];
  });
}

function identityOf({ apiVersion, kind, metadata: { name, namespace } }: KubeManifest): object {
  return { apiVersion, kind, metadata: namespace === undefined ? { name } : { name, namespace } };
}

function changesOf(before: KubeManifest, after: KubeManifest): object {
  return changedFields(before, after, changing);
}

interface Deployment {
  readonly replicas: number;
  readonly template: { readonly metadata: { readonly annotations: object }; readonly spec: object };
}

/** Strategic merge patch of replicas, annotations and pod fields without merged lists. */
function deploymentChanges(before: KubeManifest, after: KubeManifest): object {
  const [{ template: was, replicas: wereReplicas }, { template, replicas }] = [before, after].map(
    ({ spec }) => spec as Deployment,
  ) as [Deployment, Deployment];
  const podSpec = changedFields(was.spec, template.spec, keysOf(was.spec, template.spec));
  const metadata = changedFields(was.metadata, template.metadata, ['annotations']);
  const changed = { ...nonEmpty({ metadata }), ...nonEmpty({ spec: podSpec }) };
  const spec = { ...(replicas === wereReplicas ? {} : { replicas }), ...nonEmpty({ template: changed }) };
  return nonEmpty({ spec });
}

function keysOf(...objects: readonly object[]): readonly string[] {
  return [...new Set(objects.flatMap(Object.keys))];
}

/** Null removes a field. */
function changedFields(before: object, after: object, fields: readonly string[]): object {
  const [was, is] = [before, after].map((object) => object as Readonly<Record<string, unknown>>) as [
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>>,
  ];
  const changed = fields.filter((field) => JSON.stringify(was[field]) !== JSON.stringify(is[field]));
  return Object.fromEntries(changed.map((field) => [field, is[field] ?? null]));
}

function nonEmpty(fields: Readonly<Record<string, object>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => Object.keys(value).length > 0));
}

function page(path: string, objects: readonly object[]): ManifestPage {
  const documents = objects.map((object) => stringify(object, { lineWidth: 0, singleQuote: true }));
  return { path: `manifests/${path}`, text: head + documents.join('---\n') };
}
