/** Default values of pods (upstream `pkg/apis/core/v1/defaults.go`). */
import type { JsonMap } from './json-map.ts';
import { fillAt, fillIn, fillZero } from './fill-in.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from './select-field.ts';

const podDefaults: Readonly<Record<string, unknown>> = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

/** Modifies `spec`, which is that of a pod. */
export function defaultPod(spec: MutableJsonMap): void {
  defaultPodSpec(spec);
  for (const { resources } of containersOf(spec)) defaultRequests(resources);
  spec['enableServiceLinks'] ??= true;
  defaultHostPorts(spec);
}

/** A copy of the spec of a pod, with defaults. Values of a wrong type are left unchanged. */
export function buildPodDefaults(spec: JsonMap): JsonMap {
  const copy = structuredClone({ ...spec });
  defaultPod(copy);
  return copy;
}

/** Modifies `spec`, which is that of a pod or of a pod template. */
function defaultPodSpec(spec: MutableJsonMap): void {
  fillIn(spec, podDefaults);
  nameAccount(spec);
  for (const container of containersOf(spec)) defaultContainer(container);
  defaultVolumes(spec);
}

/** `serviceAccount` is another name of `serviceAccountName`. */
function nameAccount(spec: MutableJsonMap): void {
  const name = textAt(spec, 'serviceAccountName') || textAt(spec, 'serviceAccount');
  if (name !== '') Object.assign(spec, { serviceAccountName: name, serviceAccount: name });
}

/** Sets the defaults of the pod template of `owner`, if it has one. */
export function defaultTemplate(owner: MutableJsonMap): void {
  const template = owner['template'];
  if (isMap(template) && isMap(template['spec'])) defaultPodSpec(template['spec']);
}

function containersOf(spec: MutableJsonMap): readonly MutableJsonMap[] {
  return [...mapsAt(spec, 'containers'), ...mapsAt(spec, 'initContainers')];
}

/** Service account of a pod; templates have none by default: upstream sets it in admission. */
export function admitPodSpec(spec: MutableJsonMap): void {
  fillIn(spec, { serviceAccountName: 'default' });
  nameAccount(spec);
}

function defaultContainer(container: MutableJsonMap): void {
  fillIn(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isMovingTag(textAt(container, 'image')) ? 'Always' : 'IfNotPresent',
  });
  for (const port of mapsAt(container, 'ports')) fillIn(port, { protocol: 'TCP' });
  defaultProbesAndHooks(container);
}

function isMovingTag(image: string): boolean {
  return !image.includes('@') && (/:([^/:]+)$/.exec(image)?.[1] ?? 'latest') === 'latest';
}

/** Limits are the default of requests; templates keep their resources as they are. */
function defaultRequests(resources: unknown): void {
  if (!isMap(resources) || !isMap(resources['limits'])) return;
  resources['requests'] = { ...resources['limits'], ...mapAt(resources, 'requests') };
}

/** Upstream `qos.ComputePodQOS`: depends on the cpu and memory requests and limits of every container. */
export function qosClassOf(spec: MutableJsonMap): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const requirements = containersOf(spec).flatMap(({ resources }) =>
    ['cpu', 'memory'].map((name) => ({
      request: quantityAt(resources, 'requests', name),
      limit: quantityAt(resources, 'limits', name),
    })),
  );
  if (requirements.every(({ request, limit }) => request === '' && limit === '')) return 'BestEffort';
  return requirements.every(({ request, limit }) => limit !== '' && request === limit) ? 'Guaranteed' : 'Burstable';
}

function quantityAt(resources: unknown, side: 'requests' | 'limits', name: string): string {
  const quantity = textAt(resources, side, name);
  return quantity === '0' ? '' : quantity;
}

const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const probeDefaults = { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 } as const;
const httpDefaults = { path: '/', scheme: 'HTTP' } as const;
const fileMode = { defaultMode: 0o644 } as const;
const hostPath = { type: '' } as const;
const fieldDefaults = { apiVersion: 'v1' } as const;

/** Defaults by the name of the volume source. */
const volumeDefaults = { configMap: fileMode, secret: fileMode, downwardAPI: fileMode, projected: fileMode, hostPath };

/** A volume without any source is an empty directory. */
function defaultVolumes(spec: MutableJsonMap): void {
  for (const volume of mapsAt(spec, 'volumes')) {
    if (Object.keys(volume).every((field) => field === 'name')) volume['emptyDir'] = {};
    for (const [source, defaults] of Object.entries(volumeDefaults)) fillAt(volume, [source], defaults);
    fillAt(volume, ['ephemeral', 'volumeClaimTemplate', 'spec'], { volumeMode: 'Filesystem' });
    for (const item of mapsAt(volume, 'downwardAPI', 'items')) fillAt(item, ['fieldRef'], fieldDefaults);
    for (const source of mapsAt(volume, 'projected', 'sources')) {
      fillAt(source, ['serviceAccountToken'], { expirationSeconds: 3_600 });
    }
  }
}

function defaultProbesAndHooks(container: MutableJsonMap): void {
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

/** Host ports of a pod on the network of the node: those of its containers. Templates have none by default. */
function defaultHostPorts(spec: MutableJsonMap): void {
  if (spec['hostNetwork'] !== true) return;
  for (const container of containersOf(spec)) {
    for (const port of mapsAt(container, 'ports')) fillIn(port, { hostPort: port['containerPort'] });
  }
}
