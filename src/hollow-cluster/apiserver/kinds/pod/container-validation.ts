/** Containers of pods and of pod templates (upstream `validateContainers`, `validateInitContainers`). */
import { ownValue } from '../../../../machinery/api/json-map.ts';
import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notFoundField,
  requiredField,
} from '../../api-errors/field-errors.ts';
import { isMap, mapAt, mapsAt, type MutableJsonMap, numberAt, textAt } from '../../select-field.ts';
import { checkCounts, checkFormat, checkOneOf, checkPort, checkRequired } from '../../validation/field-checks.ts';
import {
  explainDataKey,
  explainHeaderName,
  explainLabel,
  explainPort,
  explainPortName,
  explainSubdomain,
  explainVariableName,
} from '../../validation/formats.ts';
import { checkResources } from './resource-validation.ts';

const protocols = ['SCTP', 'TCP', 'UDP'] as const;
const pullPolicies = ['Always', 'IfNotPresent', 'Never'] as const;
const messagePolicies = ['File', 'FallbackToLogsOnError'] as const;
const restartPolicies = ['Always', 'Never', 'OnFailure'] as const;
const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;
const probes = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;
const probeCounts = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;
const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'] as const;
const podFields: ReadonlySet<string> = new Set([
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]);
const labelOrAnnotation = /^metadata\.(labels|annotations)\['[^']+'\]$/;
const alwaysOnly = 'may not be set for init containers without restartPolicy=Always';

/** `volumes` are the names of those that containers can mount. */
export function checkContainers(
  spec: MutableJsonMap,
  path: string,
  volumes: ReadonlySet<string>,
): readonly FieldError[] {
  const containers = mapsAt(spec, 'containers');
  const own = `${path}.containers`;
  if (containers.length === 0) return [requiredField(own), ...checkInitContainers(spec, path, volumes)];
  const names = new Set<string>();
  const ports = new Set<string>();
  return [
    ...containers.flatMap((container, index) => [
      ...checkContainer(container, `${own}[${index}]`, volumes),
      ...checkUnique(names, textAt(container, 'name'), `${own}[${index}].name`),
      ...checkLifecycle(container, `${own}[${index}]`),
    ]),
    ...containers.flatMap((container, index) => checkHostPorts(container, `${own}[${index}]`, ports)),
    ...checkInitContainers(spec, path, volumes),
  ];
}

function checkInitContainers(spec: MutableJsonMap, path: string, volumes: ReadonlySet<string>): readonly FieldError[] {
  const names = new Set(mapsAt(spec, 'containers').map((container) => textAt(container, 'name')));
  return mapsAt(spec, 'initContainers').flatMap((container, index) => {
    const own = `${path}.initContainers[${index}]`;
    const parts =
      container['restartPolicy'] === 'Always'
        ? checkLifecycle(container, own)
        : ['lifecycle', ...probes]
            .filter((field) => ownValue(container, field) !== undefined)
            .map((field) => forbiddenField(`${own}.${field}`, alwaysOnly));
    return [
      ...checkContainer(container, own, volumes),
      ...checkOneOf(container, 'restartPolicy', own, restartPolicies),
      ...checkUnique(names, textAt(container, 'name'), `${own}.name`),
      ...checkHostPorts(container, own, new Set()),
      ...parts,
    ];
  });
}

function checkUnique(seen: Set<string>, value: string, field: string): readonly FieldError[] {
  if (seen.has(value)) return [duplicateField(field, value)];
  seen.add(value);
  return [];
}

function checkContainer(container: MutableJsonMap, path: string, volumes: ReadonlySet<string>): readonly FieldError[] {
  return [
    ...checkRequired(container, 'name', path, explainLabel),
    ...checkRequired(container, 'image', path),
    ...checkOneOf(container, 'terminationMessagePolicy', path, messagePolicies),
    ...checkPorts(mapsAt(container, 'ports'), `${path}.ports`),
    ...checkVariables(mapsAt(container, 'env'), `${path}.env`),
    ...checkMounts(mapsAt(container, 'volumeMounts'), `${path}.volumeMounts`, volumes),
    ...checkOneOf(container, 'imagePullPolicy', path, pullPolicies),
    ...checkResources(mapAt(container, 'resources'), `${path}.resources`),
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

function checkVariables(variables: readonly MutableJsonMap[], path: string): readonly FieldError[] {
  return variables.flatMap((variable, index) => {
    const own = `${path}[${index}]`;
    return [
      ...checkRequired(variable, 'name', own, explainVariableName),
      ...checkValueFrom(variable, `${own}.valueFrom`),
    ];
  });
}

function checkValueFrom(variable: MutableJsonMap, path: string): readonly FieldError[] {
  const { valueFrom } = variable;
  if (!isMap(valueFrom)) return [];
  const given = sources.filter((source) => valueFrom[source] !== undefined);
  const errors = [
    ...checkFieldPath(valueFrom['fieldRef'], `${path}.fieldRef`),
    ...checkKeyOf(valueFrom['configMapKeyRef'], `${path}.configMapKeyRef`),
    ...checkKeyOf(valueFrom['secretKeyRef'], `${path}.secretKeyRef`),
  ];
  const why = explainSources(given.length, textAt(variable, 'value'));
  return why === undefined ? errors : [...errors, invalidField(path, '', why)];
}

function explainSources(count: number, value: string): string | undefined {
  if (count === 0) {
    return 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`';
  }
  if (value !== '') return 'may not be specified when `value` is not empty';
  return count > 1 ? 'may not have more than one field specified at a time' : undefined;
}

function checkFieldPath(reference: unknown, path: string): readonly FieldError[] {
  if (!isMap(reference)) return [];
  const field = textAt(reference, 'fieldPath');
  if (field === '') return [requiredField(`${path}.fieldPath`)];
  if (podFields.has(field) || labelOrAnnotation.test(field)) return [];
  const why = `error converting fieldPath: field label not supported: ${field}`;
  return [invalidField(`${path}.fieldPath`, field, why)];
}

function checkKeyOf(reference: unknown, path: string): readonly FieldError[] {
  if (!isMap(reference)) return [];
  return [
    ...checkFormat(`${path}.name`, textAt(reference, 'name'), explainSubdomain),
    ...checkRequired(reference, 'key', path, explainDataKey),
  ];
}

function checkMounts(
  mounts: readonly MutableJsonMap[],
  path: string,
  volumes: ReadonlySet<string>,
): readonly FieldError[] {
  const seen = new Set<string>();
  return mounts.flatMap((mount, index) => {
    const own = `${path}[${index}]`;
    const [name, mountPath] = [textAt(mount, 'name'), textAt(mount, 'mountPath')];
    const repeated = seen.has(mountPath) ? [invalidField(`${own}.mountPath`, mountPath, 'must be unique')] : [];
    seen.add(mountPath);
    return [
      ...(name === '' ? [requiredField(`${own}.name`)] : []),
      ...(volumes.has(name) ? [] : [notFoundField(`${own}.name`, name)]),
      ...(mountPath === '' ? [requiredField(`${own}.mountPath`)] : []),
      ...repeated,
    ];
  });
}

function checkLifecycle(container: MutableJsonMap, path: string): readonly FieldError[] {
  const hooks = ['postStart', 'preStop'].flatMap((hook) =>
    checkHandler(ownValue(mapAt(container, 'lifecycle'), hook), `${path}.lifecycle.${hook}`),
  );
  return [...hooks, ...probes.flatMap((probe) => checkProbe(container[probe], probe, `${path}.${probe}`))];
}

function checkProbe(probe: unknown, name: string, path: string): readonly FieldError[] {
  if (!isMap(probe)) return [];
  const successes = numberAt(probe, 'successThreshold');
  return [
    ...checkHandler(probe, path),
    ...checkCounts(probe, probeCounts, path),
    ...(name === 'readinessProbe' || successes === 1
      ? []
      : [invalidField(`${path}.successThreshold`, successes, 'must be 1')]),
  ];
}

/** Checks the handler of a probe or of a hook: exactly one action. */
function checkHandler(handler: unknown, path: string): readonly FieldError[] {
  if (!isMap(handler)) return [];
  const [first, ...more] = handlers.filter((action) => handler[action] !== undefined);
  if (first === undefined) return [requiredField(path, 'must specify a handler type')];
  return [
    ...checkAction(first, mapAt(handler, first), `${path}.${first}`),
    ...more.map((action) => forbiddenField(`${path}.${action}`, 'may not specify more than 1 handler type')),
  ];
}

function checkAction(kind: string, action: MutableJsonMap, path: string): readonly FieldError[] {
  if (kind === 'exec') return Array.isArray(action['command']) ? [] : [requiredField(`${path}.command`)];
  if (kind === 'sleep') return [];
  const port = checkPort(`${path}.port`, action['port']);
  if (kind !== 'httpGet') return port;
  const headers = mapsAt(action, 'httpHeaders').flatMap((header) =>
    checkFormat(`${path}.httpHeaders`, textAt(header, 'name'), explainHeaderName),
  );
  return [...port, ...checkOneOf(action, 'scheme', path, ['HTTP', 'HTTPS']), ...headers];
}
