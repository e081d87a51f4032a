/** The spec of a pod or of a pod template (upstream `ValidatePodSpec`). */
import { type FieldError, invalidField, requiredField, unsupportedField } from '../../api-errors/field-errors.ts';
import { mapAt, mapsAt, type MutableJsonMap, textAt } from '../../../../machinery/api/select-field.ts';
import { checkContainers } from './container-validation.ts';
import { checkAnnotationKeys, checkLabels, checkOneOf, checkOptional } from '../../validation/field-checks.ts';
import { explainLabel, explainSubdomain } from '../../validation/formats.ts';
import { quantitiesAt, checkAmount, checkContainerResourceName, checkResources } from './resource-validation.ts';
import type { PodValidationOptions } from './pod-validation-options.ts';
import { checkNodeAffinity, checkTolerations } from './scheduling-validation.ts';

const restartPolicies = ['Always', 'OnFailure', 'Never'] as const;
const preemptionPolicies = ['PreemptLowerPriority', 'Never'] as const;
const int32Max = 2 ** 31 - 1;

export function checkPodSpec(spec: MutableJsonMap, path: string, options: PodValidationOptions): readonly FieldError[] {
  return [
    ...checkContainers(spec, path),
    ...checkHostNetwork(spec, path),
    ...checkRestartPolicy(spec, path),
    ...checkOneOf(spec, 'preemptionPolicy', path, preemptionPolicies),
    ...checkNames(spec, path),
    ...checkLabels(`${path}.nodeSelector`, spec['nodeSelector']),
    ...checkNodeAffinity(mapAt(spec, 'affinity', 'nodeAffinity'), `${path}.affinity.nodeAffinity`),
    ...checkDeadline(spec, path),
    ...checkTolerations(mapsAt(spec, 'tolerations'), `${path}.tolerations`, options),
    ...checkResources(mapAt(spec, 'resources'), `${path}.resources`),
    ...quantitiesAt(spec, 'overhead').flatMap(([name, value]) => {
      const field = `${path}.overhead.limits[${name}]`;
      return [...checkContainerResourceName(name, field), ...checkAmount(name, value, field)];
    }),
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
export function checkPodTemplate(
  template: MutableJsonMap,
  path: string,
  options: PodValidationOptions,
): readonly FieldError[] {
  return [
    ...checkLabels(`${path}.labels`, mapAt(template, 'metadata')['labels']),
    ...checkAnnotationKeys(`${path}.annotations`, mapAt(template, 'metadata')['annotations']),
    ...checkPodSpec(mapAt(template, 'spec'), `${path}.spec`, options),
  ];
}
