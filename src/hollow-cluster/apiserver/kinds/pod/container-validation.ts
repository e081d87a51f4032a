/** Containers of pods and of pod templates (upstream `validateContainers`, `validateInitContainers`). */
import { duplicateField, type FieldError, invalidField, requiredField } from '../../api-errors/field-errors.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../../../../machinery/api/select-field.ts';
import { checkCounts, checkFormat, checkOneOf, checkRequired } from '../../validation/field-checks.ts';
import { explainLabel, explainPort, explainPortName } from '../../validation/formats.ts';
import { checkResources } from './resource-validation.ts';

const protocols = ['SCTP', 'TCP', 'UDP'] as const;
const pullPolicies = ['Always', 'IfNotPresent', 'Never'] as const;
const restartPolicies = ['Always', 'Never', 'OnFailure'] as const;
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const probeCounts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;
/** Environment, mounts and hooks are not checked: no hollow node reads them. */
export function checkContainers(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const containers = mapsAt(spec, 'containers');
  const own = `${path}.containers`;
  if (containers.length === 0) return [requiredField(own), ...checkInitContainers(spec, path)];
  const names = new Set<string>();
  const ports = new Set<string>();
  return [
    ...containers.flatMap((container, index) => [
      ...checkContainer(container, `${own}[${index}]`),
      ...checkUnique(names, textAt(container, 'name'), `${own}[${index}].name`),
    ]),
    ...containers.flatMap((container, index) => checkHostPorts(container, `${own}[${index}]`, ports)),
    ...checkInitContainers(spec, path),
  ];
}

function checkInitContainers(spec: MutableJsonMap, path: string): readonly FieldError[] {
  const names = new Set(mapsAt(spec, 'containers').map((container) => textAt(container, 'name')));
  return mapsAt(spec, 'initContainers').flatMap((container, index) => {
    const own = `${path}.initContainers[${index}]`;
    return [
      ...checkContainer(container, own),
      ...checkOneOf(container, 'restartPolicy', own, restartPolicies),
      ...checkUnique(names, textAt(container, 'name'), `${own}.name`),
      ...checkHostPorts(container, own, new Set()),
    ];
  });
}

function checkUnique(seen: Set<string>, value: string, field: string): readonly FieldError[] {
  if (seen.has(value)) return [duplicateField(field, value)];
  seen.add(value);
  return [];
}

function checkContainer(container: MutableJsonMap, path: string): readonly FieldError[] {
  return [
    ...checkRequired(container, 'name', path, explainLabel),
    ...checkRequired(container, 'image', path),
    ...checkPorts(mapsAt(container, 'ports'), `${path}.ports`),
    ...checkOneOf(container, 'imagePullPolicy', path, pullPolicies),
    ...checkResources(mapAt(container, 'resources'), `${path}.resources`),
    ...probes.flatMap((probe) => checkProbe(container[probe], probe, `${path}.${probe}`)),
  ];
}

function checkPorts(ports: readonly MutableJsonMap[], path: string): readonly FieldError[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const own = `${path}[${index}]`;
    const name = textAt(port, 'name');
    const problems = name === '' ? [] : checkFormat(`${own}.name`, name, explainPortName);
    return [
      ...(name !== '' && problems.length === 0 ? checkUnique(names, name, `${own}.name`) : problems),
      ...checkContainerPort(port, own),
      ...checkOneOf(port, 'protocol', own, protocols),
    ];
  });
}

function checkContainerPort(port: MutableJsonMap, path: string): readonly FieldError[] {
  const [number, hostPort] = [numberAt(port, 'containerPort'), numberAt(port, 'hostPort')];
  const errors = explainPort(number).map((message) => invalidField(`${path}.containerPort`, number, message));
  const ofHost = hostPort === 0 ? [] : explainPort(hostPort);
  return [
    ...(number === 0 ? [requiredField(`${path}.containerPort`)] : errors),
    ...ofHost.map((message) => invalidField(`${path}.hostPort`, hostPort, message)),
  ];
}

function checkHostPorts(container: MutableJsonMap, path: string, seen: Set<string>): readonly FieldError[] {
  return mapsAt(container, 'ports').flatMap((port, index) => {
    const hostPort = numberAt(port, 'hostPort');
    if (hostPort === 0) return [];
    const text = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${hostPort}`;
    return checkUnique(seen, text, `${path}.ports[${index}].hostPort`);
  });
}

function checkProbe(probe: unknown, name: string, path: string): readonly FieldError[] {
  if (!isMap(probe)) return [];
  const successes = numberAt(probe, 'successThreshold');
  return [
    ...checkCounts(probe, probeCounts, path),
    ...(name === 'readinessProbe' || successes === 1
      ? []
      : [invalidField(`${path}.successThreshold`, successes, 'must be 1')]),
  ];
}
