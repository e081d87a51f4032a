/** NodeLifecyclePolicy, a custom resource of this project: each object is one policy, named as the object. */
import { isMap, type JsonMap } from './json-map.ts';
import type { KubeObject } from './meta.ts';
import { cutText } from './limits.ts';

/** The group is a domain of the project, because those below `k8s.io` are reserved. */
export const policyResource = {
  group: 'policy.node-lifecycle.dev',
  version: 'v1alpha1',
  kind: 'NodeLifecyclePolicy',
  plural: 'nodelifecyclepolicies',
  singular: 'nodelifecyclepolicy',
  shortNames: ['nlp'],
} as const;

export const policyApiVersion = `${policyResource.group}/${policyResource.version}`;

/** Name of the definition, its metadata.name. */
export const policyCrdName = `${policyResource.plural}.${policyResource.group}`;

/** Maximum number of objects in force: a limit that keeps the selection for each node cheap. */
export const policiesMax = 100;

/** Annotation of an object: an RFC 3339 time, which resets the breaker of the policy as `limits.resetAt` does. */
export const resetAnnotation = 'nodelifecycle/reset-breaker';

/** A policy as kubectl names it. */
export function policyObjectName(name: string): string {
  return `${policyResource.singular}/${name}`;
}

/** An object as the controller stores it. Spec and status are read when they are used, because either may be malformed. */
export interface PolicyObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Generation of the spec; 0 if the API server sent none. */
  readonly generation: number;
  /** RFC 3339; empty if the API server sent none. */
  readonly createdAt: string;
  /** The value of {@link resetAnnotation}; absent without it. */
  readonly reset?: string;
  readonly spec: unknown;
  readonly status: JsonMap;
}

/** Never throws. */
export function transformPolicyObject(raw: KubeObject): PolicyObject {
  const {
    name = '',
    uid = '',
    resourceVersion = '',
    generation = 0,
    creationTimestamp = '',
    annotations,
  } = raw.metadata;
  const reset: unknown = annotations?.[resetAnnotation];
  const { spec, status }: JsonMap = { ...raw };
  return {
    name,
    uid,
    resourceVersion,
    generation,
    createdAt: creationTimestamp,
    ...(typeof reset === 'string' ? { reset: cutText(reset) } : {}),
    spec,
    status: isMap(status) ? status : {},
  };
}
