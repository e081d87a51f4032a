/** A mark with which another tool, or a person by its means, says that a node is not to be repaired. Any value but `false` counts. */
export interface KnownVeto {
  /** Name in the field of a policy. */
  readonly of: VetoOwner;
  /** The tool. */
  readonly owner: string;
  readonly kind: 'annotation' | 'label';
  /** Its key. */
  readonly name: string;
}

export const vetoOwners = ['karpenter', 'medik8s', 'gardener', 'cluster-api'] as const;
export type VetoOwner = (typeof vetoOwners)[number];

/** Every mark of other tools that is known. Each is only read. */
export const knownVetoes: readonly KnownVeto[] = [
  { of: 'karpenter', owner: 'Karpenter', kind: 'annotation', name: 'karpenter.sh/do-not-repair' },
  {
    of: 'medik8s',
    owner: 'node-healthcheck-operator',
    kind: 'label',
    name: 'remediation.medik8s.io/exclude-from-remediation',
  },
  {
    of: 'gardener',
    owner: 'machine-controller-manager',
    kind: 'annotation',
    name: 'node.machine.sapcloud.io/preserve',
  },
  { of: 'cluster-api', owner: 'Cluster API', kind: 'annotation', name: 'cluster.x-k8s.io/skip-remediation' },
];

/** Keys of the annotations among them. */
export const vetoAnnotations: readonly string[] = knownVetoes.flatMap(({ kind, name }) =>
  kind === 'annotation' ? [name] : [],
);
