/** What a pod gets that does not say otherwise (upstream `pkg/apis/core/v1/defaults.go`). */
import type { JsonMap } from '../storage/stored-object.ts';
import { isRecord, mapsOf, textAt } from './strategy.ts';

const podDefaults: Readonly<Record<string, unknown>> = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

/** Of pods themselves, not of templates: upstream sets these in admission, or for pods alone. */
const admittedPodDefaults: Readonly<Record<string, unknown>> = {
  enableServiceLinks: true,
  serviceAccountName: 'default',
  serviceAccount: 'default',
  priority: 0,
  preemptionPolicy: 'PreemptLowerPriority',
};

/** Changes `spec`, which is that of a pod or of a pod template. */
export function defaultPodSpec(spec: JsonMap): void {
  fillIn(spec, podDefaults);
  for (const container of [...mapsOf(spec['containers']), ...mapsOf(spec['initContainers'])]) {
    defaultContainer(container);
  }
}

export function admitPodSpec(spec: JsonMap): void {
  fillIn(spec, admittedPodDefaults);
}

function defaultContainer(container: JsonMap): void {
  fillIn(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isMovingTag(textAt(container, 'image')) ? 'Always' : 'IfNotPresent',
  });
  for (const port of mapsOf(container['ports'])) fillIn(port, { protocol: 'TCP' });
  defaultRequests(container['resources']);
}

function isMovingTag(image: string): boolean {
  if (image.includes('@')) return false;
  const tag = /:([^/:]+)$/.exec(image)?.[1] ?? 'latest';
  return tag === 'latest';
}

/** What is limited is requested as well. */
function defaultRequests(resources: unknown): void {
  if (!isRecord(resources) || !isRecord(resources['limits'])) return;
  const requests = isRecord(resources['requests']) ? resources['requests'] : {};
  resources['requests'] = { ...resources['limits'], ...requests };
}

/** Upstream `qos.ComputePodQOS`: by whether cpu and memory are requested and limited in every container. */
export function qosClassOf(spec: JsonMap): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...mapsOf(spec['containers']), ...mapsOf(spec['initContainers'])];
  const asks = containers.flatMap(({ resources }) =>
    ['cpu', 'memory'].map((name) => ({
      request: quantityAt(resources, 'requests', name),
      limit: quantityAt(resources, 'limits', name),
    })),
  );
  if (asks.every(({ request, limit }) => request === '' && limit === '')) return 'BestEffort';
  return asks.every(({ request, limit }) => limit !== '' && request === limit) ? 'Guaranteed' : 'Burstable';
}

function quantityAt(resources: unknown, side: 'requests' | 'limits', name: string): string {
  const quantity = textAt(resources, side, name);
  return quantity === '0' ? '' : quantity;
}

function fillIn(target: JsonMap, defaults: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(defaults)) target[field] ??= structuredClone(value);
}
