// Commands of kubectl, in the order in which they run on one empty cluster without controllers and kubelets. The answers of
// a real kube-apiserver are in kubectl-tour.json: `node test/control-plane/record-kubectl-tour.ts` writes them.

export interface TourRow {
  /** The arguments, separated by spaces. */
  readonly command: string;
  /** One more argument, which may contain spaces. */
  readonly last?: string;
  readonly stdin?: object;
  /** A shell command that `kubectl edit` runs on the file. */
  readonly editor?: string;
  /** The lines of the output have no order, as those of a map. */
  readonly sorted?: true;
  /** Why the embedded server answers something else; what it answers is recorded too. */
  readonly differs?: string;
}

const conditions = [
  {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    message: 'kubelet is posting ready status',
    lastHeartbeatTime: '2026-01-02T03:04:05Z',
    lastTransitionTime: '2026-01-02T03:04:05Z',
  },
];

function node(name: string, zone: string): object {
  const status = {
    conditions,
    capacity: { cpu: '4', memory: '8Gi', pods: '110' },
    allocatable: { cpu: '4', memory: '8Gi', pods: '110' },
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
    nodeInfo: { kubeletVersion: 'v1.37.2', osImage: 'Hollow', kernelVersion: '6.12', architecture: 'amd64' },
  };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { zone } }, status };
}

function pod(name: string, nodeName?: string): object {
  const containers = [{ name: 'main', image: 'example.com/app:1', resources: { requests: { cpu: '100m' } } }];
  const spec = {
    ...(nodeName === undefined ? {} : { nodeName }),
    containers,
    terminationGracePeriodSeconds: 0,
    serviceAccountName: 'default',
  };
  const metadata = { name, namespace: 'default', labels: { app: name } };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec };
}

const slowSpec = { nodeName: 'tour-b', containers: [{ name: 'main', image: 'example.com/app:1' }] };

function configMap(name: string, data: Readonly<Record<string, string>>): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data };
}

function list(...items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items };
}

function grouped(name: string): object {
  return { ...configMap(name, {}), metadata: { name, namespace: 'default', labels: { group: 'pruned' } } };
}

function daemonSet(image: string, args: readonly string[] = []): object {
  const containers = [{ name: 'main', image, ...(args.length === 0 ? {} : { args }) }];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers } },
    },
  };
}

function role(verbs: readonly string[]): object {
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs }];
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'reader', namespace: 'team' },
    rules,
  };
}

const event = {
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'tour.1', namespace: 'default' },
  involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'app', uid: 'app' },
  type: 'Warning',
  reason: 'Failed',
  message: 'Failed to do anything',
  source: { component: 'tour' },
  firstTimestamp: '2026-01-02T03:04:05Z',
  lastTimestamp: '2026-01-02T03:04:05Z',
  count: 3,
};

const session: readonly TourRow[] = [
  { command: 'version', differs: 'the version is that of this project' },
  { command: 'cluster-info' },
  {
    command: 'api-versions',
    differs: 'CustomResourceDefinitions, APIServices and the first version of HorizontalPodAutoscalers are not served',
  },
  { command: 'api-resources --api-group=apps' },
  { command: 'api-resources --api-group=coordination.k8s.io -o wide' },
  { command: 'api-resources --api-group=policy --verbs=create,deletecollection' },
  { command: 'api-resources --api-group=rbac.authorization.k8s.io --namespaced=false -o name' },
  { command: 'get --raw /readyz' },
  { command: 'get --raw /version', differs: 'the version is that of this project' },
  { command: 'auth whoami' },
  { command: 'auth can-i list pods --all-namespaces' },
  { command: 'auth can-i get /metrics' },
  { command: 'auth can-i fly pods' },
  { command: 'auth can-i --list', sorted: true },
  { command: 'auth can-i --list --as=system:anonymous', sorted: true },
  { command: 'get namespaces' },
];

const nodes: readonly TourRow[] = [
  { command: 'create -f -', stdin: node('tour-a', 'a') },
  { command: 'create -f -', stdin: node('tour-b', 'b') },
  { command: 'create -f -', stdin: node('tour-a', 'a') },
  { command: 'get nodes' },
  { command: 'get nodes -o wide' },
  { command: 'get node tour-a -o json' },
  { command: 'get node tour-a -o yaml --show-managed-fields' },
  { command: 'get nodes -o name' },
  { command: 'get nodes -o jsonpath={.items[*].metadata.labels.zone}' },
  { command: 'get nodes -o custom-columns=NAME:.metadata.name,CPU:.status.capacity.cpu,POD:.spec.podCIDR' },
  { command: 'get nodes -o go-template={{range.items}}{{.metadata.name}}{{"\\n"}}{{end}}' },
  { command: 'get nodes --show-labels -L zone' },
  { command: 'get nodes --sort-by=.metadata.labels.zone --no-headers' },
  { command: 'get nodes --chunk-size=1' },
  { command: 'get nodes -l zone=b' },
  { command: 'get nodes --field-selector=metadata.name=tour-b' },
  { command: 'get nodes --field-selector=spec.podCIDR=none' },
  { command: 'get node missing' },
  { command: 'get node tour-a missing' },
  { command: 'get node missing --ignore-not-found' },
  { command: 'describe node missing' },
  { command: 'get things' },
  { command: 'describe node tour-a' },
  { command: 'label node tour-a colour=blue' },
  { command: 'label node tour-a colour=red' },
  { command: 'label node tour-a colour=red --overwrite' },
  { command: 'label node tour-a --list', sorted: true },
  { command: 'label node tour-a colour-' },
  { command: 'label node tour-a colour=not/valid' },
  { command: 'annotate node tour-a note=mine' },
  { command: 'annotate node tour-a note=other' },
  { command: 'annotate nodes --all note=new --overwrite' },
  { command: 'annotate node tour-a note- other-' },
  { command: 'taint node tour-a key=value:NoSchedule' },
  { command: 'taint node tour-a key=other:NoSchedule' },
  { command: 'taint node tour-a key=other:NoSchedule --overwrite' },
  { command: 'get node tour-a -o jsonpath={.spec.taints}' },
  { command: 'taint node tour-a key=value:Sometimes' },
  { command: 'taint node tour-a key-' },
  { command: 'cordon tour-a' },
  { command: 'cordon tour-a' },
  { command: 'get node tour-a' },
  { command: 'uncordon tour-a' },
  { command: 'patch node tour-a -p {"spec":{"unschedulable":true}}' },
  { command: 'patch node tour-a --type=merge -p {"spec":{"unschedulable":null}}' },
  { command: 'patch node tour-a --type=json -p [{"op":"test","path":"/metadata/name","value":"other"}]' },
  { command: 'patch node tour-a --type=json -p [{"op":"add","path":"/metadata/labels/kind","value":"json"}]' },
  { command: 'patch node tour-a -p {"metadata":{"name":"other"}}' },
  { command: 'patch node tour-a -p {"spec":{"unschedulable":"maybe"}}', differs: 'the message names the field' },
  { command: 'patch node tour-a -p {"spec":', differs: 'the message is that of the JSON reader' },
  { command: 'patch node missing -p {"spec":{"unschedulable":true}}' },
  { command: 'patch node tour-a --subresource=status --type=merge -p {"status":{"capacity":{"cpu":"8"}}}' },
  {
    command:
      'patch node tour-a --dry-run=server -p {"metadata":{"labels":{"dry":"run"}}} -o jsonpath={.metadata.labels}',
  },
  { command: 'get node tour-a --subresource=status -o jsonpath={.status.capacity}' },
  { command: 'wait node/tour-a --for=condition=Ready --timeout=10s' },
  { command: 'wait node/tour-a --for=jsonpath={.metadata.labels.zone}=a --timeout=10s' },
  { command: 'wait node/tour-a --for=condition=MemoryPressure --timeout=1s' },
  { command: 'top nodes' },
];

const pods: readonly TourRow[] = [
  { command: 'create -f -', stdin: pod('app', 'tour-a') },
  { command: 'run runner --image=example.com/run:1 --labels=app=runner' },
  { command: 'get pods' },
  { command: 'get pods -A -o wide --field-selector=spec.nodeName=tour-a' },
  { command: 'get pod app -o yaml' },
  { command: 'describe pod app' },
  { command: 'describe namespace default' },
  { command: 'label pods --all tier=front' },
  { command: 'get pods -l tier=front,app!=runner -o name' },
  { command: 'get pods -l', last: 'app in (app,runner)' },
  { command: 'get pods --field-selector=status.phase=Pending,spec.nodeName= -o name' },
  { command: 'get pods --field-selector=spec.hostname=none' },
  { command: 'exec runner -- date', differs: 'nothing runs in containers of hollow nodes' },
  { command: 'attach runner', differs: 'nothing runs in containers of hollow nodes' },
  { command: 'port-forward pod/runner 8080' },
  { command: 'top pods' },
  { command: 'logs runner' },
  { command: 'logs missing' },
  { command: 'create -f -', stdin: event },
  { command: 'events --for pod/app' },
  // kube-apiserver itself may have recorded one of a Service.
  { command: 'get events --field-selector=involvedObject.kind=Pod' },
  { command: 'create -f -', stdin: { ...pod('broken'), spec: { containers: [] } } },
  { command: 'set image pod/runner runner=example.com/run:2' },
  { command: 'set env pod/runner COLOUR=blue', differs: 'the forbidden change is not printed' },
  { command: 'drain tour-a --force --timeout=20s' },
  { command: 'delete pod runner --wait=false' },
  { command: 'create -f -', stdin: { ...pod('slow', 'tour-b'), spec: slowSpec } },
  { command: 'delete pod slow --wait=false' },
  { command: 'get pod slow' },
  { command: 'wait pod/slow --for=delete --timeout=3s' },
  { command: 'delete pod slow --grace-period=0 --force' },
  { command: 'wait pod/slow --for=delete --timeout=1s' },
  { command: 'delete pod missing --ignore-not-found' },
  { command: 'delete pod missing' },
  { command: 'get pods' },
];

const writes: readonly TourRow[] = [
  { command: 'apply -f -', stdin: daemonSet('example.com/agent:1') },
  { command: 'apply -f -', stdin: daemonSet('example.com/agent:1') },
  { command: 'diff -f -', stdin: daemonSet('example.com/agent:2') },
  { command: 'apply -f -', stdin: daemonSet('example.com/agent:2') },
  { command: 'get ds agent -o wide' },
  { command: 'rollout status ds/agent --timeout=1s' },
  { command: 'rollout history ds/agent' },
  { command: 'apply --server-side -f -', stdin: configMap('applied', { a: '1' }) },
  { command: 'apply --server-side --field-manager=other -f -', stdin: configMap('applied', { a: '2' }) },
  {
    command: 'apply --server-side --field-manager=other --force-conflicts -f -',
    stdin: configMap('applied', { a: '2' }),
  },
  { command: 'apply -f - --dry-run=server', stdin: configMap('dry', { a: '1' }) },
  { command: 'get configmap applied -o yaml --show-managed-fields' },
  { command: 'apply --server-side -f -', stdin: configMap('applied', { b: '1' }) },
  { command: 'get configmap applied -o jsonpath={.data}' },
  { command: 'apply --server-side --dry-run=server -f -', stdin: configMap('applied', { a: '3' }) },
  { command: 'apply -f -', stdin: configMap('applied', { a: '4' }) },
  { command: 'apply --server-side -f -', stdin: daemonSet('example.com/agent:3') },
  { command: 'apply --server-side --field-manager=other -f -', stdin: daemonSet('example.com/agent:4') },
  { command: 'apply view-last-applied ds/agent' },
  { command: 'apply set-last-applied --create-annotation -f -', stdin: configMap('applied', { a: '4' }) },
  { command: 'apply view-last-applied configmap/applied -o json' },
  {
    command: 'apply -f -',
    stdin: list(configMap('one', {}), configMap('two', {})),
  },
  {
    command: 'apply -f -',
    stdin: list({ ...configMap('listed', {}), datum: {} }),
    differs: 'the server checks the items of a List, not kubectl',
  },
  {
    command: 'apply -f -',
    stdin: list({ ...configMap('listed', {}), data: { a: {} } }),
    differs: 'the server checks the items of a List, not kubectl',
  },
  { command: 'apply -f -', stdin: list(daemonSet('example.com/agent:4')) },
  { command: 'apply -f -', stdin: list({ apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } }) },
  { command: 'apply -f -', stdin: grouped('pruned') },
  { command: 'apply -f - --prune -l group=pruned --prune-allowlist=core/v1/ConfigMap', stdin: grouped('kept') },
  { command: 'get configmap dry' },
  { command: 'create configmap made --from-literal=a=1 -o yaml' },
  { command: 'create configmap made --from-literal=a=1' },
  { command: 'create configmap local --from-literal=a=1 --dry-run=client -o yaml' },
  { command: 'replace -f -', stdin: configMap('made', { b: '2' }) },
  { command: 'replace -f -', stdin: configMap('missing', { b: '2' }) },
  { command: 'replace -f -', stdin: { ...configMap('made', {}), metadata: { name: 'made', resourceVersion: '1' } } },
  {
    command: 'replace --force -f -',
    stdin: configMap('two', { b: '2' }),
  },
  { command: 'edit configmap made', editor: 'sed -i s/b:/c:/' },
  { command: 'get configmaps' },
  { command: 'describe configmap made' },
  { command: 'apply -f -', stdin: { ...configMap('misspelt', {}), datum: {} } },
  { command: 'apply --validate=warn -f -', stdin: { ...configMap('misspelt', {}), datum: {} } },
  { command: 'create --validate=ignore -f -', stdin: { ...configMap('ignored', {}), datum: {} } },
  {
    command: 'apply -f -',
    stdin: { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' } },
  },
  { command: 'delete configmaps -l app=none' },
  { command: 'delete configmap applied --dry-run=server' },
  { command: 'delete configmap applied made missing' },
  { command: 'delete configmaps --all' },
];

const workloads: readonly TourRow[] = [
  { command: 'create deployment web --image=example.com/web:1 --replicas=2 --port=80' },
  { command: 'scale deployment web --replicas=3' },
  { command: 'scale deployment web --replicas=5 --current-replicas=2' },
  { command: 'get deployment web --subresource=scale' },
  { command: 'get deployment web --subresource=scale -o yaml' },
  { command: 'set image deployment/web web=example.com/web:2' },
  { command: 'set image deployment/web nothing=example.com/web:2' },
  { command: 'set env deployment/web COLOUR=blue' },
  { command: 'set env deployment/web --list' },
  { command: 'set resources deployment web --limits=cpu=200m --requests=cpu=100m' },
  { command: 'set serviceaccount deployment web robot' },
  { command: 'autoscale deployment web --min=1 --max=3 --cpu=80%' },
  { command: 'get deployment web -o wide' },
  { command: 'rollout status deployment/web --timeout=1s' },
  { command: 'rollout history deployment/web' },
  { command: 'rollout undo deployment/web' },
  { command: 'rollout restart deployment/web' },
  { command: 'rollout pause deployment/web' },
  { command: 'rollout restart deployment/web' },
  { command: 'rollout pause deployment/web' },
  { command: 'rollout resume deployment/web' },
  { command: 'describe deployment web' },
  { command: 'expose deployment web --port=80 --cluster-ip=None' },
  { command: 'create service clusterip addressed --tcp=80' },
  { command: 'create service externalname outside --external-name=example.com' },
  { command: 'set selector service web app=other' },
  { command: 'create job once --image=example.com/job:1' },
  { command: 'create cronjob often --image=example.com/job:1', last: '--schedule=*/5 * * * *' },
  { command: 'create job now --from=cronjob/often' },
  { command: 'create poddisruptionbudget web --selector=app=web --min-available=1' },
  { command: 'create poddisruptionbudget web --selector=app=web --min-available=1' },
  { command: 'get pdb' },
  { command: 'describe pdb web' },
  { command: 'create priorityclass high --value=1000 --description=first' },
  { command: 'describe priorityclass high' },
  { command: 'create secret generic hidden --from-literal=key=value' },
  { command: 'get secret hidden -o jsonpath={.data.key}' },
  { command: 'create serviceaccount robot' },
  { command: 'get serviceaccount robot' },
  { command: 'describe serviceaccount robot' },
  { command: 'create namespace team' },
  { command: 'create namespace Team' },
  { command: 'create namespace a.b' },
  { command: 'create configmap Upper --from-literal=a=1' },
  { command: `create configmap ${'a'.repeat(254)} --from-literal=a=1` },
  { command: 'create role a/b --verb=get --resource=pods' },
  { command: 'create configmap inside --from-literal=a=1 -n elsewhere' },
  { command: 'create quota limits --hard=pods=2 -n team' },
  { command: 'create role reader --verb=get --resource=pods -n team' },
  { command: 'create rolebinding readers --role=reader --serviceaccount=default:robot -n team' },
  { command: 'get roles,rolebindings -n team' },
  { command: 'describe role reader -n team' },
  { command: 'describe rolebinding readers -n team' },
  { command: 'create clusterrole watchers --verb=get,list,watch --resource=nodes --non-resource-url=/metrics' },
  { command: 'create clusterrole watchers --verb=get,list,watch --resource=nodes' },
  { command: 'create clusterrolebinding watchers --clusterrole=watchers --user=ann' },
  { command: 'describe clusterrole watchers' },
  { command: 'get nodes --as=ann -o name' },
  { command: 'delete node tour-b --as=ann' },
  { command: 'auth can-i list nodes --as=ann' },
  { command: 'auth can-i --list --as=ann', sorted: true },
  { command: 'auth whoami --as=ann --as-group=team' },
  { command: 'auth reconcile -f -', stdin: role(['get', 'list']) },
  { command: 'auth can-i get pods -n team --as=system:serviceaccount:default:robot' },
  { command: 'auth can-i delete pods -n team --as=system:serviceaccount:default:robot' },
  { command: 'delete deployment web --cascade=foreground --wait=false' },
  { command: 'get deployment web -o jsonpath={.metadata.finalizers}' },
  { command: 'certificate approve missing' },
  { command: 'delete deployment web --cascade=orphan --wait=false' },
  { command: 'delete service/web job/once cronjob/often pdb/web' },
  { command: 'delete priorityclass,clusterrole,clusterrolebinding -l app=none' },
  { command: 'delete namespace team --wait=false' },
  { command: 'delete node tour-a tour-b' },
];

const documentation: readonly TourRow[] = [
  { command: 'explain lease.spec --recursive', differs: 'the schemas have no descriptions' },
  { command: 'explain pod.spec.nothing' },
  { command: 'explain things' },
];

export const tourRows: readonly TourRow[] = [...session, ...nodes, ...pods, ...writes, ...workloads, ...documentation];
