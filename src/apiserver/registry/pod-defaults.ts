/** Default values of pods (upstream `pkg/apis/core/v1/defaults.go`). */
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';

const podDefaults: Readonly<Record<string, unknown>> = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

/** Only for pods, not for templates: upstream sets these in admission. */
const admittedPodDefaults: Readonly<Record<string, unknown>> = {
  serviceAccountName: 'default',
  serviceAccount: 'default',
  priority: 0,
  preemptionPolicy: 'PreemptLowerPriority',
};

/** Modifies `spec`, which is that of a pod or of a pod template. */
export function defaultPodSpec(spec: MutableJsonMap): void {
  fillIn(spec, podDefaults);
  for (const container of containersOf(spec)) defaultContainer(container);
}

function containersOf(spec: MutableJsonMap): readonly MutableJsonMap[] {
  return [...mapsAt(spec, 'containers'), ...mapsAt(spec, 'initContainers')];
}

export function admitPodSpec(spec: MutableJsonMap): void {
  fillIn(spec, admittedPodDefaults);
}

function defaultContainer(container: MutableJsonMap): void {
  fillIn(container, {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: isMovingTag(textAt(container, 'image')) ? 'Always' : 'IfNotPresent',
  });
  for (const port of mapsAt(container, 'ports')) fillIn(port, { protocol: 'TCP' });
  defaultRequests(container['resources']);
}

function isMovingTag(image: string): boolean {
  return !image.includes('@') && (/:([^/:]+)$/.exec(image)?.[1] ?? 'latest') === 'latest';
}

/** Limits are the default of requests. */
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

function fillIn(target: MutableJsonMap, defaults: Readonly<Record<string, unknown>>): void {
  for (const [field, value] of Object.entries(defaults)) target[field] ??= structuredClone(value);
}
