/** Defaults of the less frequent parts of a pod spec (upstream `pkg/apis/core/v1/defaults.go`). */
import { ownValue } from '../../../machinery/api/json-map.ts';
import { isMap, mapsAt, type MutableJsonMap } from '../select-field.ts';
import { fillAt, fillIn, fillZero } from './fill-in.ts';

/** By the name of the volume source. */
const volumeDefaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  configMap: { defaultMode: 0o644 },
  secret: { defaultMode: 0o644 },
  downwardAPI: { defaultMode: 0o644 },
  projected: { defaultMode: 0o644 },
  hostPath: { type: '' },
  iscsi: { iscsiInterface: 'default' },
  rbd: { pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
  azureDisk: { cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
  scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' },
};
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const;
const httpDefaults = { path: '/', scheme: 'HTTP' } as const;
const fieldDefaults = { apiVersion: 'v1' } as const;
const tokenSeconds = 3_600;

export function defaultVolumes(spec: MutableJsonMap): void {
  if (spec['volumes'] === undefined) return;
  for (const volume of mapsAt(spec, 'volumes')) {
    defaultSource(volume);
    fillAt(volume, ['ephemeral', 'volumeClaimTemplate', 'spec'], { volumeMode: 'Filesystem' });
    for (const item of mapsAt(volume, 'downwardAPI', 'items')) fillAt(item, ['fieldRef'], fieldDefaults);
    for (const source of mapsAt(volume, 'projected', 'sources')) defaultProjection(source);
  }
}

/** A volume without any source is an empty directory. Also of a persistent volume, which needs one. */
function defaultSource(volume: MutableJsonMap): void {
  const sources = Object.keys(volume).filter((field) => field !== 'name');
  if (sources.length === 0) volume['emptyDir'] = {};
  defaultSources(volume, sources);
}

/** Of a volume or of the spec of a persistent volume. */
function defaultSources(volume: MutableJsonMap, sources = Object.keys(volume)): void {
  for (const source of sources) fillAt(volume, [source], ownValue(volumeDefaults, source) ?? {});
}

function defaultProjection(source: MutableJsonMap): void {
  fillAt(source, ['serviceAccountToken'], { expirationSeconds: tokenSeconds });
  for (const item of mapsAt(source, 'downwardAPI', 'items')) fillAt(item, ['fieldRef'], fieldDefaults);
}

export function defaultProbesAndHooks(container: MutableJsonMap): void {
  for (const name of probes) defaultProbe(container[name]);
  for (const hook of Object.values(isMap(container['lifecycle']) ? container['lifecycle'] : {})) defaultHttp(hook);
  if (container['env'] === undefined) return;
  for (const variable of mapsAt(container, 'env')) fillAt(variable, ['valueFrom', 'fieldRef'], fieldDefaults);
}

function defaultProbe(probe: unknown): void {
  if (!isMap(probe)) return;
  fillZero(probe, probeDefaults);
  defaultHttp(probe);
  fillAt(probe, ['grpc'], { service: '' });
}

function defaultHttp(action: unknown): void {
  if (isMap(action) && isMap(action['httpGet'])) fillZero(action['httpGet'], httpDefaults);
}

/** Only for pods: their ports on the network of the node are those of the container. */
export function defaultHostPorts(spec: MutableJsonMap): void {
  if (spec['hostNetwork'] !== true) return;
  for (const container of [...mapsAt(spec, 'containers'), ...mapsAt(spec, 'initContainers')]) {
    for (const port of mapsAt(container, 'ports')) fillIn(port, { hostPort: port['containerPort'] });
  }
}
