import {
  canonicalJson,
  isAbsent,
  isMap,
  type JsonMap,
  mapOf,
  mapsOf,
  textOf,
  withoutNulls,
} from '../../../machinery/api/json-map.ts';
import type { Pod } from '../../../machinery/api/pod.ts';
import { validateStaticPod } from './validate-static-pod.ts';
import { configAnnotations } from '../pod-config/classify-pod.ts';
import { selectApiReference } from '../../../machinery/api/select-api-reference.ts';
import { buildPodDefaults } from '../../../machinery/api/pod-defaults.ts';
import { sameJson } from '../../../machinery/api/json-values.ts';

/** Source of a manifest and the node that it is for. */
export interface ManifestOrigin {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  /** The file's path or the URL. */
  readonly place: string;
  /** A hash: 32 hexadecimal digits. */
  readonly digest: (text: string) => string;
}

/** The pods of a manifest, or its validation problems; with problems no pod is used. */
export type ManifestPods = { readonly pods: readonly Pod[] } | { readonly problems: readonly string[] };

/** The manifest of a file: one pod. */
export function parseFilePod(document: unknown, origin: ManifestOrigin): ManifestPods {
  const kind = mapOf(document)['kind'];
  if (!isMap(document) || kind !== 'Pod') return { problems: [invalidField('kind', kind, 'Pod')] };
  return parseStaticPod(document, origin);
}

/** The document of a URL: a pod, or a `PodList`. One invalid pod makes the whole list invalid. */
export function parseHttpPods(document: unknown, origin: ManifestOrigin): ManifestPods {
  const kind = mapOf(document)['kind'];
  if (!isMap(document) || (kind !== 'Pod' && kind !== 'PodList')) {
    return { problems: [invalidField('kind', kind, 'Pod or PodList')] };
  }
  if (kind === 'Pod') return parseStaticPod(document, origin);
  const problems = document['apiVersion'] === 'v1' ? [] : [invalidField('apiVersion', document['apiVersion'], 'v1')];
  const pods: Pod[] = [];
  for (const [index, item] of mapsOf(document['items']).entries()) {
    const result = parseStaticPod({ ...item, kind: 'Pod', apiVersion: 'v1' }, origin);
    if ('problems' in result) problems.push(...result.problems.map((problem) => `items[${index}].${problem}`));
    else pods.push(...result.pods);
  }
  return problems.length > 0 ? { problems } : { pods };
}

/** A pod with all fields that the kubelet adds (kubelet `config.applyDefaults`), in upstream's order. */
function parseStaticPod(document: JsonMap, origin: ManifestOrigin): ManifestPods {
  if (document['apiVersion'] !== 'v1') return { problems: [invalidField('apiVersion', document['apiVersion'], 'v1')] };
  const written = mapOf(withoutNulls(document));
  const name = textOf(mapOf(written['metadata'])['name']);
  if (name === '') return { problems: ['metadata.name: name is needed for the pod'] };
  const pod = completed(written, name, origin);
  const problems = validateStaticPod(pod);
  if (problems.length > 0) return { problems };
  const reference = selectApiReference(mapOf(pod['spec']));
  if (reference !== undefined) return { problems: [`static pods may not reference ${reference}`] };
  return isValidated(pod) ? { pods: [pod] } : { problems: ['pod: must be an object with metadata and spec'] };
}

/** Fields that only the API server sets, such as resourceVersion or creationTimestamp, are dropped. */
function completed(written: JsonMap, name: string, origin: ManifestOrigin): JsonMap {
  const { nodeName, source } = origin;
  const metadata = mapOf(written['metadata']);
  const spec = isMap(written['spec']) ? buildPodDefaults(written['spec']) : written['spec'];
  const uid = metadata['uid'] ?? uidOf({ metadata, spec }, origin);
  const { annotations = {}, labels, namespace = 'default' } = metadata;
  return {
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: `${name}-${nodeName.toLowerCase()}`,
      namespace: namespace === '' ? 'default' : namespace,
      uid,
      ...(isAbsent(labels) ? {} : { labels }),
      annotations: isMap(annotations) ? { ...annotations, [configAnnotations.hash]: uid } : annotations,
    },
    spec: isMap(spec) ? bound(spec, nodeName, source) : spec,
    status: { phase: 'Pending' },
  };
}

/** A hash of the content, not of its notation; the same manifest at another place is another pod. */
function uidOf(content: JsonMap, { nodeName, source, place, digest }: ManifestOrigin): string {
  const where = source === 'file' ? `file:${place}` : `url:${place}`;
  return digest(`${canonicalJson(content)}host:${nodeName}${where}`);
}

/** The toleration that keeps a pod from a file on its node regardless of taints. */
const tolerateAllNoExecute: JsonMap = { operator: 'Exists', effect: 'NoExecute' };

function bound(spec: JsonMap, nodeName: string, source: 'file' | 'http'): JsonMap {
  const { tolerations = [] } = spec;
  if (source !== 'file' || !Array.isArray(tolerations)) return { ...spec, nodeName };
  const known = tolerations.some((toleration) => sameJson(toleration, tolerateAllNoExecute));
  return { ...spec, nodeName, tolerations: known ? tolerations : [...tolerations, tolerateAllNoExecute] };
}

/** Type guard for a validated pod. */
function isValidated(pod: JsonMap): pod is JsonMap & Pod {
  return isMap(pod['metadata']) && isMap(pod['spec']);
}

function invalidField(field: string, value: unknown, accepted: string): string {
  return `${field}: must be ${accepted} (got ${value === undefined ? 'nothing' : JSON.stringify(value)})`;
}
