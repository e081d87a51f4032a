import {
  canonicalJson,
  isAbsent,
  isMap,
  type JsonMap,
  mapOf,
  mapsOf,
  textOf,
  withoutNulls,
} from '../../api/json-map.ts';
import type { Pod } from '../../api/pod.ts';
import { assessPod } from './assess-pod.ts';
import { configAnnotations } from './classify-pod.ts';
import { deriveApiReference } from './derive-api-reference.ts';
import { derivePodDefaults } from './derive-pod-defaults.ts';
import { sameJson } from '../diff-json.ts';

/** Where a manifest was found and for whom. */
export interface ManifestOrigin {
  readonly nodeName: string;
  readonly source: 'file' | 'http';
  /** The file's path or the URL. */
  readonly place: string;
  /** Tells texts apart: 32 hexadecimal digits. */
  readonly digest: (text: string) => string;
}

/** The pods of a manifest, or what is wrong with it: then none of them. */
export type ManifestPods = { readonly pods: readonly Pod[] } | { readonly flaws: readonly string[] };

/** A manifest of a file: one pod. */
export function deriveFilePod(document: unknown, origin: ManifestOrigin): ManifestPods {
  const kind = mapOf(document)['kind'];
  if (!isMap(document) || kind !== 'Pod') return { flaws: [refused('kind', kind, 'Pod')] };
  return deriveStaticPod(document, origin);
}

/** The document behind a URL: a pod, or a `PodList`. One bad pod spoils the list. */
export function deriveHttpPods(document: unknown, origin: ManifestOrigin): ManifestPods {
  const kind = mapOf(document)['kind'];
  if (!isMap(document) || (kind !== 'Pod' && kind !== 'PodList')) {
    return { flaws: [refused('kind', kind, 'Pod, PodList')] };
  }
  if (kind === 'Pod') return deriveStaticPod(document, origin);
  const flaws = document['apiVersion'] === 'v1' ? [] : [refused('apiVersion', document['apiVersion'], 'v1')];
  const pods: Pod[] = [];
  for (const [index, item] of mapsOf(document['items']).entries()) {
    const result = deriveStaticPod({ ...item, kind: 'Pod', apiVersion: 'v1' }, origin);
    if ('flaws' in result) flaws.push(...result.flaws.map((flaw) => `items[${index}].${flaw}`));
    else pods.push(...result.pods);
  }
  return flaws.length > 0 ? { flaws } : { pods };
}

/** A pod with everything that the kubelet adds (kubelet `config.applyDefaults`), in the order in which upstream does. */
function deriveStaticPod(document: JsonMap, origin: ManifestOrigin): ManifestPods {
  if (document['apiVersion'] !== 'v1') return { flaws: [refused('apiVersion', document['apiVersion'], 'v1')] };
  const written = mapOf(withoutNulls(document));
  const name = textOf(mapOf(written['metadata'])['name']);
  if (name === '') return { flaws: ['metadata.name: name is needed for the pod'] };
  const pod = completed(written, name, origin);
  const flaws = assessPod(pod);
  if (flaws.length > 0) return { flaws };
  const reference = deriveApiReference(mapOf(pod['spec']));
  if (reference !== undefined) return { flaws: [`static pods may not reference ${reference}`] };
  return isAssessed(pod) ? { pods: [pod] } : { flaws: ['not a pod'] };
}

/** What is only the API server's to say, as a version or a time of creation, is dropped. */
function completed(written: JsonMap, name: string, origin: ManifestOrigin): JsonMap {
  const { nodeName, source } = origin;
  const metadata = mapOf(written['metadata']);
  const spec = isMap(written['spec']) ? derivePodDefaults(written['spec']) : written['spec'];
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

/** Of what the manifest says, not of how it is written; the same manifest elsewhere is another pod. */
function uidOf(content: JsonMap, { nodeName, source, place, digest }: ManifestOrigin): string {
  const where = source === 'file' ? `file:${place}` : `url:${place}`;
  return digest(`${canonicalJson(content)}host:${nodeName}${where}`);
}

/** What keeps a pod from a file on its node whatever happens to the node. */
const staysForEver: JsonMap = { operator: 'Exists', effect: 'NoExecute' };

function bound(spec: JsonMap, nodeName: string, source: 'file' | 'http'): JsonMap {
  const { tolerations = [] } = spec;
  if (source !== 'file' || !Array.isArray(tolerations)) return { ...spec, nodeName };
  const known = tolerations.some((toleration) => sameJson(toleration, staysForEver));
  return { ...spec, nodeName, tolerations: known ? tolerations : [...tolerations, staysForEver] };
}

/** Nothing was found wrong with it. */
function isAssessed(pod: JsonMap): pod is JsonMap & Pod {
  return isMap(pod['metadata']) && isMap(pod['spec']);
}

function refused(field: string, value: unknown, accepted: string): string {
  return `${field}: got ${value === undefined ? 'nothing' : JSON.stringify(value)}; accepted: ${accepted}`;
}
