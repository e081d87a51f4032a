/** The spec of a pod or of a pod template (upstream `ValidatePodSpec`). */
import {
  type FieldError,
  invalidField,
  requiredField,
  unsupportedField,
  duplicateField,
  forbiddenField,
} from '../../api-errors/field-errors.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, textAt } from '../../select-field.ts';
import { checkContainers } from './container-validation.ts';
import {
  checkAnnotationKeys,
  checkFormat,
  checkLabels,
  checkOneOf,
  checkOptional,
} from '../../validation/field-checks.ts';
import { explainAddress, explainLabel, explainSubdomain } from '../../validation/formats.ts';
import { quantitiesAt, checkAmount, checkContainerResourceName, checkResources } from './resource-validation.ts';
import { checkAffinity, checkTolerations, checkTopologySpread } from './scheduling-validation.ts';
import { ownValue } from '../../../../machinery/api/json-map.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'] as const;
const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'] as const;
const preemptionPolicies = ['PreemptLowerPriority', 'Never'] as const;
const int32Max = 2 ** 31 - 1;

export function checkPodSpec(spec: MutableJsonMap, path: string): readonly FieldError[] {
  return [
    ...checkVolumes(spec, path),
    ...checkContainers(spec, path, mountableNames(spec)),
    ...checkHostNetwork(spec, path),
    ...checkPolicies(spec, path),
    ...checkNames(spec, path),
    ...checkLabels(`${path}.nodeSelector`, spec['nodeSelector']),
    ...checkAffinity(mapAt(spec, 'affinity'), `${path}.affinity`),
    ...checkTopologySpread(mapsAt(spec, 'topologySpreadConstraints'), `${path}.topologySpreadConstraints`),
    ...checkDeadline(spec, path),
    ...checkTolerations(mapsAt(spec, 'tolerations'), `${path}.tolerations`),
    ...checkHostAliases(spec, path),
    ...checkResources(mapAt(spec, 'resources'), `${path}.resources`),
    ...quantitiesAt(spec, 'overhead').flatMap(([name, value]) => {
      const field = `${path}.overhead.limits[${name}]`;
      return [...checkContainerResourceName(name, field), ...checkAmount(name, value, field)];
    }),
  ];
}

function checkPolicies(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const lacksServers = spec['dnsPolicy'] === 'None' && !isMap(spec['dnsConfig']);
  return [
    ...checkRestartPolicy(spec, path),
    ...checkOneOf(spec, 'dnsPolicy', path, dnsPolicies),
    ...(lacksServers ? [requiredField(`${path}.dnsConfig`, 'must provide `dnsConfig` when `dnsPolicy` is None')] : []),
    ...checkOneOf(spec, 'preemptionPolicy', path, preemptionPolicies),
  ];
}

function checkRestartPolicy(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const policy = textAt(spec, 'restartPolicy');
  if (policy === '') return [requiredField(`${path}.restartPolicy`)];
  if (restartPolicies.some((known) => known === policy)) return [];
  return [unsupportedField(`${path}.restartPolicy`, policy, restartPolicies)];
}

function checkNames(spec: MutableJsonMap, path: string): readonly FieldError[] {
  return [
    ...['serviceAccountName', 'nodeName', 'priorityClassName', 'runtimeClassName'].flatMap((field) =>
      checkOptional(spec, field, path, explainSubdomain),
    ),
    ...['hostname', 'subdomain'].flatMap((field) => checkOptional(spec, field, path, explainLabel)),
  ];
}

function checkDeadline(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const deadline = spec['activeDeadlineSeconds'];
  if (typeof deadline !== 'number' && typeof deadline !== 'bigint') return [];
  if (deadline >= 1 && deadline <= int32Max) return [];
  return [invalidField(`${path}.activeDeadlineSeconds`, deadline, `must be between 1 and ${int32Max}, inclusive`)];
}

function checkHostAliases(spec: MutableJsonMap, path: string): readonly FieldError[] {
  return mapsAt(spec, 'hostAliases').flatMap((alias, index) => {
    const own = `${path}.hostAliases[${index}]`;
    const names: readonly unknown[] = Array.isArray(alias['hostnames']) ? alias['hostnames'] : [];
    return [
      ...checkFormat(`${own}.ip`, textAt(alias, 'ip'), explainAddress),
      ...names.flatMap((name, place) => checkFormat(`${own}.hostnames[${place}]`, String(name), explainSubdomain)),
    ];
  });
}

/** Checks that a port of the node is that of the container, on the network of the node. */
function checkHostNetwork(spec: MutableJsonMap, path: string): readonly FieldError[] {
  if (spec['hostNetwork'] !== true) return [];
  return ['containers', 'initContainers'].flatMap((kind) =>
    mapsAt(spec, kind).flatMap((container, index) =>
      mapsAt(container, 'ports').flatMap((port, place) => {
        const { hostPort } = port;
        if (hostPort === undefined || hostPort === port['containerPort']) return [];
        const field = `${path}.${kind}[${index}].ports[${place}].hostPort`;
        return [invalidField(field, hostPort, 'must match `containerPort` when `hostNetwork` is true')];
      }),
    ),
  );
}

/** Labels, annotations and spec of a pod template. */
export function checkPodTemplate(template: MutableJsonMap, path: string): readonly FieldError[] {
  return [
    ...checkLabels(`${path}.labels`, mapAt(template, 'metadata')['labels']),
    ...checkAnnotationKeys(`${path}.annotations`, mapAt(template, 'metadata')['annotations']),
    ...checkPodSpec(mapAt(template, 'spec'), `${path}.spec`),
  ];
}

/** The field without which a source is incomplete. */
const requiredOf: Readonly<Record<string, string>> = {
  configMap: 'name',
  secret: 'secretName',
  persistentVolumeClaim: 'claimName',
  hostPath: 'path',
};
/** Sources in the order in which upstream reads them: the first one counts. */
const sourceOrder = ['emptyDir', 'hostPath', 'gitRepo', 'secret', 'nfs', 'persistentVolumeClaim', 'configMap'];

/** Problems of the volumes of a pod (upstream `ValidateVolumes`): names, and fields of the frequent sources. */
function checkVolumes(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const seen = new Set<string>();
  return mapsAt(spec, 'volumes').flatMap((volume, index) => {
    const own = `${path}.volumes[${index}]`;
    const name = textAt(volume, 'name');
    const ofSource = checkSource(volume, own);
    if (name === '') return [...ofSource, requiredField(`${own}.name`)];
    const ofName = checkFormat(`${own}.name`, name, explainLabel);
    if (ofName.length > 0) return [...ofSource, ...ofName];
    if (seen.has(name)) return [...ofSource, duplicateField(`${own}.name`, name)];
    seen.add(name);
    return ofSource;
  });
}

function checkSource(volume: MutableJsonMap, path: string): readonly FieldError[] {
  const given = Object.keys(volume).filter((field) => field !== 'name');
  const ordered = [
    ...sourceOrder.filter((field) => given.includes(field)),
    ...given.filter((field) => !sourceOrder.includes(field)),
  ];
  const [first = '', ...more] = ordered;
  const source = ownValue(volume, first);
  const needed = ownValue(requiredOf, first);
  const incomplete = isMap(source) && needed !== undefined && textAt(source, needed) === '';
  return [
    ...(incomplete ? [requiredField(`${path}.${first}.${needed}`)] : []),
    ...more.map((field) => forbiddenField(`${path}.${field}`, 'may not specify more than 1 volume type')),
  ];
}

/** The names that containers can mount. */
function mountableNames(spec: MutableJsonMap): ReadonlySet<string> {
  const names = mapsAt(spec, 'volumes').map((volume) => textAt(volume, 'name'));
  return new Set(names.filter((name) => name !== '' && explainLabel(name).length === 0));
}
