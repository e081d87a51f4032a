/** What the embedded API server serves, as discovery of kube-apiserver lists it: names and scope of each kind. */

export type Verb = 'create' | 'delete' | 'deletecollection' | 'get' | 'list' | 'patch' | 'update' | 'watch';

/** What differs from a namespaced kind with all verbs and no other names. */
export interface KindRow {
  readonly isNamespaced?: false;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly subresources?: readonly SubresourceName[];
  readonly hasDeleteCollection?: false;
  /** A review has no objects: the response to a POST is computed from its body, and nothing is stored. */
  readonly isReview?: true;
}

/** The verbs of a subresource, and the kind of its bodies unless it is that of the resource. */
export interface SubresourceRow {
  readonly verbs: readonly Verb[];
  readonly group?: string;
  readonly kind?: string;
}

export const subresourceRows = {
  binding: { verbs: ['create'], kind: 'Binding' },
  eviction: { verbs: ['create'], group: 'policy', kind: 'Eviction' },
  finalize: { verbs: ['update'] },
  log: { verbs: ['get'] },
  scale: { verbs: ['get', 'patch', 'update'], group: 'autoscaling', kind: 'Scale' },
  status: { verbs: ['get', 'patch', 'update'] },
} as const satisfies Readonly<Record<string, SubresourceRow>>;

export type SubresourceName = keyof typeof subresourceRows;

/**
 * The kinds of each group version. Groups are in the order of kube-apiserver, which decides between those that have a
 * resource of the same name.
 */
export const kindRows: Readonly<Record<string, Readonly<Record<string, KindRow>>>> = {
  v1: {
    ConfigMap: { shortNames: ['cm'] },
    Endpoints: { shortNames: ['ep'] },
    Event: { shortNames: ['ev'] },
    LimitRange: { shortNames: ['limits'] },
    Namespace: {
      isNamespaced: false,
      shortNames: ['ns'],
      hasDeleteCollection: false,
      subresources: ['finalize', 'status'],
    },
    Node: { isNamespaced: false, shortNames: ['no'], subresources: ['status'] },
    PersistentVolumeClaim: { shortNames: ['pvc'], subresources: ['status'] },
    PersistentVolume: { isNamespaced: false, shortNames: ['pv'], subresources: ['status'] },
    Pod: { shortNames: ['po'], categories: ['all'], subresources: ['binding', 'eviction', 'log', 'status'] },
    PodTemplate: {},
    ReplicationController: { shortNames: ['rc'], categories: ['all'], subresources: ['scale', 'status'] },
    ResourceQuota: { shortNames: ['quota'], subresources: ['status'] },
    Secret: {},
    ServiceAccount: { shortNames: ['sa'] },
    Service: { shortNames: ['svc'], categories: ['all'], subresources: ['status'] },
  },
  'apps/v1': {
    ControllerRevision: {},
    DaemonSet: { shortNames: ['ds'], categories: ['all'], subresources: ['status'] },
    Deployment: { shortNames: ['deploy'], categories: ['all'], subresources: ['scale', 'status'] },
    ReplicaSet: { shortNames: ['rs'], categories: ['all'], subresources: ['scale', 'status'] },
    StatefulSet: { shortNames: ['sts'], categories: ['all'], subresources: ['scale', 'status'] },
  },
  'events.k8s.io/v1': { Event: { shortNames: ['ev'] } },
  'authentication.k8s.io/v1': {
    SelfSubjectReview: { isNamespaced: false, isReview: true },
    TokenReview: { isNamespaced: false, isReview: true },
  },
  'authorization.k8s.io/v1': {
    LocalSubjectAccessReview: { isReview: true },
    SelfSubjectAccessReview: { isNamespaced: false, isReview: true },
    SelfSubjectRulesReview: { isNamespaced: false, isReview: true },
    SubjectAccessReview: { isNamespaced: false, isReview: true },
  },
  'autoscaling/v2': { HorizontalPodAutoscaler: { shortNames: ['hpa'], categories: ['all'], subresources: ['status'] } },
  'batch/v1': {
    CronJob: { shortNames: ['cj'], categories: ['all'], subresources: ['status'] },
    Job: { categories: ['all'], subresources: ['status'] },
  },
  'certificates.k8s.io/v1': {
    CertificateSigningRequest: { isNamespaced: false, shortNames: ['csr'], subresources: ['status'] },
  },
  'networking.k8s.io/v1': {
    IngressClass: { isNamespaced: false },
    Ingress: { shortNames: ['ing'], subresources: ['status'] },
    IPAddress: { isNamespaced: false, shortNames: ['ip'] },
    NetworkPolicy: { shortNames: ['netpol'] },
    ServiceCIDR: { isNamespaced: false, subresources: ['status'] },
  },
  'policy/v1': { PodDisruptionBudget: { shortNames: ['pdb'], subresources: ['status'] } },
  'rbac.authorization.k8s.io/v1': {
    ClusterRoleBinding: { isNamespaced: false },
    ClusterRole: { isNamespaced: false },
    RoleBinding: {},
    Role: {},
  },
  'storage.k8s.io/v1': {
    CSIDriver: { isNamespaced: false },
    CSINode: { isNamespaced: false },
    CSIStorageCapacity: {},
    StorageClass: { isNamespaced: false, shortNames: ['sc'] },
    VolumeAttachment: { isNamespaced: false, subresources: ['status'] },
    VolumeAttributesClass: { isNamespaced: false, shortNames: ['vac'] },
  },
  'admissionregistration.k8s.io/v1': {
    MutatingAdmissionPolicy: { isNamespaced: false, categories: ['api-extensions'] },
    MutatingAdmissionPolicyBinding: { isNamespaced: false, categories: ['api-extensions'] },
    MutatingWebhookConfiguration: { isNamespaced: false, categories: ['api-extensions'] },
    ValidatingAdmissionPolicy: { isNamespaced: false, categories: ['api-extensions'], subresources: ['status'] },
    ValidatingAdmissionPolicyBinding: { isNamespaced: false, categories: ['api-extensions'] },
    ValidatingWebhookConfiguration: { isNamespaced: false, categories: ['api-extensions'] },
  },
  'scheduling.k8s.io/v1': { PriorityClass: { isNamespaced: false, shortNames: ['pc'] } },
  'coordination.k8s.io/v1': { Lease: {} },
  'node.k8s.io/v1': { RuntimeClass: { isNamespaced: false } },
  'discovery.k8s.io/v1': { EndpointSlice: {} },
  'resource.k8s.io/v1': {
    DeviceClass: { isNamespaced: false },
    ResourceClaim: { subresources: ['status'] },
    ResourceClaimTemplate: {},
    ResourceSlice: { isNamespaced: false },
  },
  'flowcontrol.apiserver.k8s.io/v1': {
    FlowSchema: { isNamespaced: false, subresources: ['status'] },
    PriorityLevelConfiguration: { isNamespaced: false, subresources: ['status'] },
  },
};
