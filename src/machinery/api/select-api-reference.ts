import { isAbsent, isMap, type JsonMap, mapOf, mapsOf, ownValue, textOf } from './json-map.ts';

/**
 * The kind of API object that a spec refers to, as its plural; undefined if there is none. A static pod must run
 * without an API server, so it may not refer to any (upstream `podutil.HasAPIObjectReference`).
 */
export function selectApiReference(spec: JsonMap): string | undefined {
  if (refersToServiceAccount(spec)) return 'serviceaccounts';
  if (refersToSecret(spec)) return 'secrets';
  const volumes = mapsOf(spec['volumes']);
  if (containersOf(spec).some((container) => refersTo(container, 'configMapRef', 'configMapKeyRef')))
    return 'configmaps';
  if (volumes.some((volume) => isMap(volume['configMap']) || projects(volume, 'configMap'))) return 'configmaps';
  if (mapsOf(spec['resourceClaims']).length > 0) return 'resourceclaims';
  return referenceOfVolumes(volumes);
}

/**
 * Why a mirror pod with this spec is not created, as kube-apiserver says it; undefined if it may be (upstream admission plugin
 * `ServiceAccount`).
 */
export function explainMirrorReference(spec: JsonMap): string | undefined {
  if (refersToServiceAccount(spec)) return 'a mirror pod may not reference service accounts';
  if (refersToSecret(spec)) return 'a mirror pod may not reference secrets';
  const projectsToken = mapsOf(spec['volumes']).some((volume) => projects(volume, 'serviceAccountToken'));
  return projectsToken ? 'a mirror pod may not use ServiceAccountToken volume projections' : undefined;
}

const containerLists = ['containers', 'initContainers', 'ephemeralContainers'] as const;

function containersOf(spec: JsonMap): readonly JsonMap[] {
  return containerLists.flatMap((list) => mapsOf(spec[list]));
}

function refersToSecret(spec: JsonMap): boolean {
  if (mapsOf(spec['imagePullSecrets']).length > 0 || mapsOf(spec['volumes']).some(holdsSecret)) return true;
  return containersOf(spec).some((container) => refersTo(container, 'secretRef', 'secretKeyRef'));
}

function refersToServiceAccount(spec: JsonMap): boolean {
  return textOf(spec['serviceAccountName']) !== '' || textOf(spec['serviceAccount']) !== '';
}

function refersTo(container: JsonMap, whole: string, key: string): boolean {
  return (
    mapsOf(container['envFrom']).some((from) => isMap(ownValue(from, whole))) ||
    mapsOf(container['env']).some((entry) => isMap(ownValue(mapOf(entry['valueFrom']), key)))
  );
}

/**
 * True if the volume holds a secret: as a volume of its own, in a projection, or as the credentials of another volume
 * type.
 */
function holdsSecret(volume: JsonMap): boolean {
  if (isMap(volume['secret']) || projects(volume, 'secret')) return true;
  return Object.entries(volume).some(([kind, value]) => {
    const source = mapOf(value);
    if (kind === 'azureFile') return textOf(source['secretName']) !== '';
    return isMap(source['secretRef']) || isMap(source['nodePublishSecretRef']);
  });
}

function projects(volume: JsonMap, kind: string): boolean {
  return mapsOf(mapOf(volume['projected'])['sources']).some((source) => !isAbsent(ownValue(source, kind)));
}

function referenceOfVolumes(volumes: readonly JsonMap[]): string | undefined {
  const claims = (volume: JsonMap): boolean => isMap(volume['persistentVolumeClaim']) || isMap(volume['ephemeral']);
  if (volumes.some(claims)) return 'persistentvolumeclaims';
  if (volumes.some((volume) => projects(volume, 'clusterTrustBundle'))) return 'clustertrustbundles';
  if (volumes.some((volume) => projects(volume, 'serviceAccountToken'))) return 'serviceaccounts';
  return volumes.some((volume) => projects(volume, 'podCertificate')) ? 'podcertificaterequests' : undefined;
}
