/** Default values of pods (upstream `pkg/apis/core/v1/defaults.go`). */
import { fillIn } from '../kinds/fill-in.ts';
import { defaultProbesAndHooks, defaultVolumes } from '../kinds/pod-spec-defaults.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from '../select-field.ts';

const podDefaults: Readonly<Record<string, unknown>> = {
  restartPolicy: 'Always',
  terminationGracePeriodSeconds: 30,
  dnsPolicy: 'ClusterFirst',
  securityContext: {},
  schedulerName: 'default-scheduler',
};

/** Modifies `spec`, which is that of a pod or of a pod template. */
export function defaultPodSpec(spec: MutableJsonMap): void {
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

/** Only for pods, not for templates: upstream sets it in admission. */
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

/** Only for pods: templates keep their resources as they are. */
export function defaultPodRequests(spec: MutableJsonMap): void {
  for (const container of containersOf(spec)) defaultRequests(container['resources']);
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
