// The CustomResourceDefinition of NodeLifecyclePolicy. The spec is generated from the schema of a policy in the config file;
// the status is written by the leader.
import type { JsonMap } from '../../src/machinery/api/json-map.ts';
import { policyCrdName, policyResource } from '../../src/machinery/api/node-lifecycle-policy.ts';
import { buildCelRules } from './build-cel-rules.ts';
import { buildStructuralSchema } from './build-structural-schema.ts';

interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'date';
  readonly description: string;
  readonly jsonPath: string;
  readonly priority?: 1;
}

const accepted = '.status.conditions[?(@.type=="Accepted")]';

/** What `kubectl get nlp` prints. Mode and priority are those in force, also where the spec does not set them. */
const policyColumns: readonly PrinterColumn[] = [
  { name: 'Mode', type: 'string', description: 'Mode in force', jsonPath: '.status.mode' },
  { name: 'Priority', type: 'integer', description: 'Priority in force', jsonPath: '.status.priority' },
  { name: 'Nodes', type: 'integer', description: 'Nodes to which the policy applies', jsonPath: '.status.nodes' },
  { name: 'Unhealthy', type: 'integer', description: 'Those that are not healthy', jsonPath: '.status.unhealthyNodes' },
  { name: 'Held', type: 'integer', description: 'Those for which something is held', jsonPath: '.status.heldNodes' },
  { name: 'Breaker', type: 'string', description: 'Open or Closed, with limits', jsonPath: '.status.breaker' },
  { name: 'Accepted', type: 'string', description: 'Whether the spec is in force', jsonPath: `${accepted}.status` },
  { name: 'Reason', type: 'string', description: 'Why', jsonPath: `${accepted}.reason`, priority: 1 },
  { name: 'Age', type: 'date', description: 'Time since its creation', jsonPath: '.metadata.creationTimestamp' },
];

function count(description: string): JsonMap {
  return { type: 'integer', format: 'int32', minimum: 0, description };
}

function text(description: string, rest: JsonMap = {}): JsonMap {
  return { type: 'string', description, ...rest };
}

const conditions: JsonMap = {
  type: 'array',
  description:
    'Accepted: the spec is in force. Degraded: the breaker is open, or nodes are claimed equally by another policy',
  maxItems: 8,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: text('Type of the condition', { maxLength: 316 }),
      status: text('True, False or Unknown', { enum: ['True', 'False', 'Unknown'] }),
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0, description: 'Generation of the spec' },
      lastTransitionTime: text('When the status changed', { format: 'date-time' }),
      reason: text('Reason in one word', { maxLength: 1024 }),
      message: text('Details', { maxLength: 32768 }),
    },
  },
};

const statusSchema: JsonMap = {
  type: 'object',
  description: 'What the leader observes; written when it changes',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64', description: 'Generation of the spec that was evaluated' },
    mode: text('Mode in force; absent if no version of the spec is'),
    priority: { type: 'integer', format: 'int32', description: 'Priority in force' },
    nodes: count('Nodes to which the policy applies'),
    unhealthyNodes: count('Those that are not Ready, or silent'),
    heldNodes: count('Those for which a mode, a pause, planned maintenance or the breaker holds something'),
    pendingEvictions: count('Pods on these nodes that have a time at which they are evicted'),
    breaker: text('State of the breaker; absent without limits', { enum: ['Open', 'Closed'] }),
    conditions,
  },
};

const { group, version, kind, plural, singular, shortNames } = policyResource;

/** `spec`: the JSON schema of the spec. */
export function buildPolicyCrd(spec: JsonMap): JsonMap {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: policyCrdName },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames },
      scope: 'Cluster',
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: buildPolicySchema(spec) },
          subresources: { status: {} },
          additionalPrinterColumns: policyColumns,
        },
      ],
    },
  };
}

/** The schema of a whole object. */
export function buildPolicySchema(spec: JsonMap): JsonMap {
  return {
    type: 'object',
    description:
      'Settings and a mode for the nodes that a label selector matches. Only with --policy-source=crd of node-lifecycle-controller',
    required: ['spec'],
    properties: {
      apiVersion: text('Version of the schema of this object'),
      kind: text('Kind of this object'),
      metadata: { type: 'object' },
      spec: {
        description: 'The policy, with the fields of a policy in the config file',
        ...buildStructuralSchema(spec, buildCelRules()),
      },
      status: statusSchema,
    },
  };
}
