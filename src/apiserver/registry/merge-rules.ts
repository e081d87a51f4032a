/**
 * How strategic merge treats the lists of the kinds that are served: which are merged, and by what. What is not named is
 * replaced as a whole - above all taints and tolerations, which have no merge key (upstream: the `patchStrategy` and
 * `patchMergeKey` tags of the API types).
 */

export interface MergeRule {
  /** A list of objects: elements that agree in this field are the same element. */
  readonly mergeKey?: string;
  /** A list of scalars that is treated as a set. */
  readonly scalarSet?: true;
  /** Rules below: of an object's fields, or of the fields of a list's elements. */
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
    // Two addresses may share a type: merging by it is wrong, and clients know to send `$patch: replace`.
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

/** The rules below the top of an object of that kind. */
export function mergeRulesOf(kind: string): MergeRules {
  return { ...byKind[kind], metadata };
}
