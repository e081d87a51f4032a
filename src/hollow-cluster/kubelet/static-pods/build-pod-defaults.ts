/** The defaults of a manifest, as the API server sets them (upstream `pkg/apis/core/v1/defaults.go`). */
import { isAbsent, isMap, type JsonMap, mapOf, ownValue, textOf } from '../../../machinery/api/json-map.ts';

const podDefaults: JsonMap = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
  enableServiceLinks: true,
};

const probeDefaults: JsonMap = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 };
const httpDefaults: JsonMap = { path: '/', scheme: 'HTTP' };
/** 0644. */
const fileModeDefault = 420;

/** A spec with all defaults. Values of a wrong type are left unchanged for the validation. */
export function buildPodDefaults(spec: JsonMap): JsonMap {
  const hostNetwork = spec['hostNetwork'] === true;
  const container = (value: JsonMap): JsonMap => containerDefaults(value, hostNetwork);
  return {
    ...podDefaults,
    ...spec,
    ...eachOf(spec, 'containers', container),
    ...eachOf(spec, 'initContainers', container),
    ...eachOf(spec, 'volumes', volumeDefaults),
  };
}

function eachOf(map: JsonMap, field: string, change: (value: JsonMap) => JsonMap): JsonMap {
  const list = ownValue(map, field);
  if (!Array.isArray(list)) return {};
  return { [field]: list.map((value: unknown) => (isMap(value) ? change(value) : value)) };
}

function containerDefaults(container: JsonMap, hostNetwork: boolean): JsonMap {
  const { image, resources } = container;
  return {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isMovingTag(textOf(image)) ? 'Always' : 'IfNotPresent',
    ...container,
    ...eachOf(container, 'ports', (port) => portDefaults(port, hostNetwork)),
    ...eachOf(container, 'env', envDefaults),
    ...(isMap(resources) ? { resources: resourceDefaults(resources) } : {}),
    ...within(container, 'livenessProbe', probeWithDefaults),
    ...within(container, 'readinessProbe', probeWithDefaults),
    ...within(container, 'startupProbe', probeWithDefaults),
    ...within(container, 'lifecycle', lifecycleDefaults),
  };
}

function within(map: JsonMap, field: string, change: (value: JsonMap) => JsonMap): JsonMap {
  const value = ownValue(map, field);
  return isMap(value) ? { [field]: change(value) } : {};
}

/** The image of a missing tag or of `latest` may change. */
function isMovingTag(image: string): boolean {
  if (image.includes('@')) return false;
  return (/:([^/:]+)$/.exec(image)?.[1] ?? 'latest') === 'latest';
}

function portDefaults(port: JsonMap, hostNetwork: boolean): JsonMap {
  const onHost = hostNetwork && isAbsent(port['hostPort']) && !isAbsent(port['containerPort']);
  return { protocol: 'TCP', ...port, ...(onHost ? { hostPort: port['containerPort'] } : {}) };
}

function envDefaults(entry: JsonMap): JsonMap {
  return {
    ...entry,
    ...within(entry, 'valueFrom', (from) => ({
      ...from,
      ...within(from, 'fieldRef', (field) => ({ apiVersion: 'v1', ...field })),
    })),
  };
}

/** Limits are the default of requests. */
function resourceDefaults(resources: JsonMap): JsonMap {
  const { limits, requests } = resources;
  return isMap(limits) ? { ...resources, requests: { ...limits, ...mapOf(requests) } } : resources;
}

function probeWithDefaults(probe: JsonMap): JsonMap {
  return { ...probeDefaults, ...withHttpDefaults(probe) };
}

function lifecycleDefaults(lifecycle: JsonMap): JsonMap {
  const hooks = ['postStart', 'preStop'].map((hook) => within(lifecycle, hook, withHttpDefaults));
  return Object.assign({}, lifecycle, ...hooks);
}

function withHttpDefaults(action: JsonMap): JsonMap {
  return { ...action, ...within(action, 'httpGet', (http) => ({ ...httpDefaults, ...http })) };
}

function volumeDefaults(volume: JsonMap): JsonMap {
  const mode = (value: JsonMap): JsonMap => ({ defaultMode: fileModeDefault, ...value });
  const sources = Object.keys(volume).filter((field) => field !== 'name');
  return {
    ...(sources.length === 0 ? { emptyDir: {} } : {}),
    ...volume,
    ...within(volume, 'hostPath', (value) => ({ type: '', ...value })),
    ...within(volume, 'downwardAPI', mode),
    ...within(volume, 'projected', mode),
  };
}
