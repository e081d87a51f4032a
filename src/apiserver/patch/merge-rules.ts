/**
 * Merge rules of strategic merge patch for the served kinds: the merged lists and their merge keys. Other lists are
 * replaced as a whole, in particular taints and tolerations, which have no merge key (upstream: the `patchStrategy` and
 * `patchMergeKey` tags of the API types).
 */

export interface MergeRule {
  /** A list of objects: elements with the same value in this field are the same element. */
  readonly mergeKey?: string;
  /** A list of scalars with set semantics. */
  readonly scalarSet?: true;
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

const byKind: Readonly<Record<string, MergeRules>> = {
  Node: {
    spec: { fields: { podCIDRs: { scalarSet: true } } },
    // Two addresses may have the same type, so this merge key is wrong upstream; clients send `$patch: replace`.
    status: { fields: { conditions, addresses: { mergeKey: 'type' } } },
  },
  Pod: {
    spec: podSpec,
    status: { fields: { conditions, podIPs: { mergeKey: 'ip' }, hostIPs: { mergeKey: 'ip' } } },
  },
  Namespace: { status: { fields: { conditions } } },
  DaemonSet: {
    spec: { fields: { template: { fields: { metadata, spec: podSpec } } } },
    status: { fields: { conditions } },
  },
};

/** The top-level rules of a kind. */
export function mergeRulesOf(kind: string): MergeRules {
  return { ...byKind[kind], metadata };
}
