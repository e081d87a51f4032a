/**
 * Merge rules of strategic merge patch for the served kinds: the merged lists and their merge keys. Other lists are
 * replaced as a whole, in particular taints and tolerations, which have no merge key (upstream: the `patchStrategy` and
 * `patchMergeKey` tags of the API types).
 */
import { ownValue } from '../../../machinery/api/json-map.ts';

export interface MergeRule {
  /** A list of objects: elements with the same value in this field are the same element. */
  readonly mergeKey?: string;
  /** A list of scalars with set semantics. */
  readonly scalarSet?: true;
  /** An object that is replaced as a whole. */
  readonly replaced?: true;
  /** Nested rules: for the fields of an object, or of the elements of a list. */
  readonly fields?: MergeRules;
}

export type MergeRules = Readonly<Record<string, MergeRule>>;

const container: MergeRule = {
  mergeKey: 'name',
  fields: {
    env: { mergeKey: 'name' },
    ports: { mergeKey: 'containerPort' },
    volumeMounts: { mergeKey: 'mountPath' },
    volumeDevices: { mergeKey: 'devicePath' },
  },
};

const metadata: MergeRule = {
  fields: { ownerReferences: { mergeKey: 'uid' }, finalizers: { scalarSet: true } },
};

const podSpec: MergeRule = {
  fields: {
    containers: container,
    initContainers: container,
    ephemeralContainers: container,
    volumes: { mergeKey: 'name' },
    resourceClaims: { mergeKey: 'name' },
    imagePullSecrets: { mergeKey: 'name' },
    hostAliases: { mergeKey: 'ip' },
    topologySpreadConstraints: { mergeKey: 'topologyKey' },
    schedulingGates: { mergeKey: 'name' },
  },
};

const conditions: MergeRule = { mergeKey: 'type' };

const template: MergeRule = { fields: { metadata, spec: podSpec } };

/** A kind with a pod template in its spec. */
const workload: MergeRules = { spec: { fields: { template } }, status: { fields: { conditions } } };

/** A kind whose only merged list are its conditions. */
const conditioned: MergeRules = { status: { fields: { conditions } } };

const byName: MergeRule = { mergeKey: 'name' };
const webhooks: MergeRules = { webhooks: { ...byName, fields: { matchConditions: byName } } };

const byKind: Readonly<Record<string, MergeRules>> = {
  Node: {
    spec: { fields: { podCIDRs: { scalarSet: true } } },
    // Two addresses may have the same type, so this merge key is wrong upstream; clients send `$patch: replace`.
    status: { fields: { conditions, addresses: { mergeKey: 'type' } } },
  },
  Pod: {
    spec: podSpec,
    status: {
      fields: { conditions, podIPs: { mergeKey: 'ip' }, hostIPs: { mergeKey: 'ip' }, resourceClaimStatuses: byName },
    },
  },
  Namespace: conditioned,
  PersistentVolumeClaim: conditioned,
  HorizontalPodAutoscaler: conditioned,
  FlowSchema: conditioned,
  PriorityLevelConfiguration: conditioned,
  ServiceCIDR: conditioned,
  Service: { ...conditioned, spec: { fields: { ports: { mergeKey: 'port' } } } },
  ServiceAccount: { secrets: byName },
  PodDisruptionBudget: { ...conditioned, spec: { fields: { selector: { replaced: true } } } },
  ReplicationController: workload,
  DaemonSet: workload,
  Deployment: workload,
  ReplicaSet: workload,
  StatefulSet: workload,
  Job: workload,
  CronJob: { spec: { fields: { jobTemplate: { fields: { metadata, spec: { fields: { template } } } } } } },
  PodTemplate: { template },
  CSINode: { spec: { fields: { drivers: byName } } },
  ResourceClaim: { status: { fields: { reservedFor: { mergeKey: 'uid' } } } },
  ValidatingWebhookConfiguration: webhooks,
  MutatingWebhookConfiguration: webhooks,
  ValidatingAdmissionPolicy: { spec: { fields: { matchConditions: byName, variables: byName } } },
  MutatingAdmissionPolicy: { spec: { fields: { matchConditions: byName } } },
};

/** The top-level rules of a kind. */
export function mergeRulesOf(kind: string): MergeRules {
  return { ...ownValue(byKind, kind), metadata };
}
