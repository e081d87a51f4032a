import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manifestText } from '../../../../../src/cli/simulation/hollow-nodes/manifests/manifest-text.ts';
import type { Pod } from '../../../../../src/machinery/api/pod.ts';
import { configAnnotations } from '../../../../../src/hollow-cluster/kubelet/pod-config/classify-pod.ts';
import {
  parseFilePod,
  parseHttpPods,
  type ManifestOrigin,
  type ManifestPods,
} from '../../../../../src/hollow-cluster/kubelet/static-pods/parse-static-pod.ts';

const origin: ManifestOrigin = {
  nodeName: 'n1',
  source: 'file',
  place: '/etc/m/web.yaml',
  digest: manifestText.digest,
};
const fromUrl: ManifestOrigin = { ...origin, source: 'http', place: 'http://h/pods' };
const tolerationForEver = { operator: 'Exists', effect: 'NoExecute' };

type Json = Readonly<Record<string, unknown>>;

function aDocument({ metadata = {}, spec = {} }: { readonly metadata?: Json; readonly spec?: Json } = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', ...metadata },
    spec: { containers: [{ name: 'c', image: 'img:1' }], ...spec },
  };
}

function podOf(result: ManifestPods): Pod {
  assert.ok('pods' in result, 'problems' in result ? result.problems.join('; ') : '');
  const [pod] = result.pods;
  assert.ok(pod !== undefined);
  return pod;
}

function problemsOf(result: ManifestPods): readonly string[] {
  return 'problems' in result ? result.problems : [];
}

describe('a static pod', () => {
  it('tolerates every NoExecute taint if it comes from a file, and has its node and its hash [C18]', () => {
    const file = podOf(parseFilePod(aDocument(), origin));
    const http = podOf(parseHttpPods(aDocument(), fromUrl));
    assert.deepEqual(file.spec?.tolerations, [tolerationForEver]);
    assert.equal(http.spec?.tolerations, undefined);
    for (const pod of [file, http]) {
      assert.deepEqual([pod.metadata.name, pod.metadata.namespace, pod.spec?.nodeName], ['web-n1', 'default', 'n1']);
      assert.equal(pod.status?.phase, 'Pending');
      assert.match(pod.metadata.uid ?? '', /^[0-9a-f]{32}$/);
      assert.equal(pod.metadata.annotations?.[configAnnotations.hash], pod.metadata.uid);
    }
    assert.notEqual(file.metadata.uid, http.metadata.uid);
  });

  it('is named after its node in lower case [C19]', () => {
    const pod = podOf(parseFilePod(aDocument(), { ...origin, nodeName: 'N1' }));
    assert.deepEqual([pod.metadata.name, pod.spec?.nodeName], ['web-n1', 'N1']);
  });

  it('gets its toleration once, after its own ones', () => {
    const own = { key: 'a', operator: 'Exists' };
    const withOwn = podOf(parseFilePod(aDocument({ spec: { tolerations: [own] } }), origin));
    assert.deepEqual(withOwn.spec?.tolerations, [own, tolerationForEver]);
    const withBoth = podOf(parseFilePod(aDocument({ spec: { tolerations: [tolerationForEver, own] } }), origin));
    assert.deepEqual(withBoth.spec?.tolerations, [tolerationForEver, own]);
  });

  it('has a uid derived from its content, node and source, unless the manifest sets one', () => {
    const uid = (document: Json, from = origin) => podOf(parseFilePod(document, from)).metadata.uid;
    const first = uid(aDocument());
    assert.equal(uid(aDocument({ metadata: { labels: null } })), first, 'null counts as unset');
    const actual = uid(aDocument({ spec: { restartPolicy: 'Always' } }));
    assert.equal(actual, first, 'an explicit default counts as the default');
    assert.notEqual(uid(aDocument({ spec: { restartPolicy: 'Never' } })), first);
    assert.notEqual(uid(aDocument(), { ...origin, nodeName: 'n2' }), first);
    assert.notEqual(uid(aDocument(), { ...origin, place: '/etc/m/other.yaml' }), first);
    const pinned = podOf(parseFilePod(aDocument({ metadata: { uid: 'mine' } }), origin));
    assert.deepEqual([pinned.metadata.uid, pinned.metadata.annotations?.[configAnnotations.hash]], ['mine', 'mine']);
  });

  it('may not refer to API objects [C20]', () => {
    const volume = (source: Json): Json => ({ volumes: [{ name: 'v', ...source }] });
    const projected = (source: Json): Json => volume({ projected: { sources: [source] } });
    const container = (fields: Json): Json => ({ containers: [{ name: 'c', image: 'img:1', ...fields }] });
    const cases: readonly (readonly [string, Json])[] = [
      ['secrets', volume({ secret: { secretName: 's' } })],
      ['secrets', projected({ secret: { name: 's' } })],
      ['secrets', volume({ azureFile: { secretName: 's', shareName: 'x' } })],
      ['secrets', volume({ csi: { driver: 'd', nodePublishSecretRef: { name: 's' } } })],
      ['secrets', { imagePullSecrets: [{ name: 's' }] }],
      ['secrets', container({ envFrom: [{ secretRef: { name: 's' } }] })],
      ['secrets', container({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] })],
      ['configmaps', volume({ configMap: { name: 'm' } })],
      ['configmaps', projected({ configMap: { name: 'm' } })],
      ['configmaps', container({ envFrom: [{ configMapRef: { name: 'm' } }] })],
      ['configmaps', container({ env: [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'm', key: 'k' } } }] })],
      ['serviceaccounts', { serviceAccountName: 'default' }],
      ['serviceaccounts', projected({ serviceAccountToken: { path: 'token' } })],
      ['persistentvolumeclaims', volume({ persistentVolumeClaim: { claimName: 'p' } })],
      ['persistentvolumeclaims', volume({ ephemeral: { volumeClaimTemplate: {} } })],
      ['resourceclaims', { resourceClaims: [{ name: 'gpu' }] }],
      ['clustertrustbundles', projected({ clusterTrustBundle: { name: 'b', path: 'p' } })],
    ];
    for (const [plural, spec] of cases) {
      const problems = problemsOf(parseFilePod(aDocument({ spec }), origin));
      assert.deepEqual(problems, [`static pods may not reference ${plural}`], JSON.stringify(spec));
    }
    const allowed = [volume({ hostPath: { path: '/x' } }), volume({ emptyDir: {} }), projected({ downwardAPI: {} })];
    for (const spec of allowed) podOf(parseFilePod(aDocument({ spec }), origin));
  });

  it('that was exported as a mirror is read, and keeps the annotation, as for a kubelet, which then runs nothing', () => {
    const { mirror, hash, source, seen } = configAnnotations;
    const exported = {
      name: 'web-n1',
      namespace: 'kube-system',
      uid: '7d5a6a1c-0b53-4a06-9a0e-3f6f0a8c1b11',
      resourceVersion: '812',
      generation: 1,
      creationTimestamp: '2026-11-20T08:00:00Z',
      annotations: { [mirror]: 'abc', [hash]: 'abc', [source]: 'file', [seen]: '2026-11-20T07:59:58.123456789Z' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'u1', controller: true }],
    };
    const spec = {
      nodeName: 'n1',
      priority: 2_000_001_000,
      priorityClassName: 'system-node-critical',
      enableServiceLinks: true,
      schedulerName: 'default-scheduler',
      tolerations: [tolerationForEver],
    };
    const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }], podIP: '10.0.0.7' };
    const pod = podOf(parseFilePod({ ...aDocument({ metadata: exported, spec }), status }, origin));
    assert.equal(pod.metadata.annotations?.[mirror], 'abc');
    assert.equal(pod.metadata.name, 'web-n1-n1');
    assert.deepEqual(pod.spec?.tolerations, [tolerationForEver]);
    assert.equal(pod.status?.phase, 'Pending', 'nothing of the status that it had');
  });

  it('gets the defaults that an API server sets', () => {
    const port = { name: 'http', containerPort: 80 };
    const spec = {
      hostNetwork: true,
      containers: [
        {
          name: 'c',
          image: 'registry:5000/img',
          ports: [port],
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m' } },
          livenessProbe: { httpGet: { port: 'http' } },
        },
      ],
      initContainers: [{ name: 'i', image: 'img@sha256:0' }],
      volumes: [{ name: 'v' }],
    };
    assert.deepEqual(podOf(parseFilePod(aDocument({ spec }), origin)).spec, {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: true,
      hostNetwork: true,
      nodeName: 'n1',
      tolerations: [tolerationForEver],
      containers: [
        {
          name: 'c',
          image: 'registry:5000/img',
          imagePullPolicy: 'Always',
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          ports: [{ name: 'http', containerPort: 80, hostPort: 80, protocol: 'TCP' }],
          resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '500m', memory: '1Gi' } },
          livenessProbe: {
            httpGet: { path: '/', scheme: 'HTTP', port: 'http' },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
        },
      ],
      initContainers: [
        {
          name: 'i',
          image: 'img@sha256:0',
          imagePullPolicy: 'IfNotPresent',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
        },
      ],
      volumes: [{ name: 'v', emptyDir: {} }],
    });
  });

  it('drops fields that only the API server sets', () => {
    const metadata = { resourceVersion: '7', creationTimestamp: null, generation: 3, labels: { a: 'b' } };
    const pod = podOf(parseFilePod(aDocument({ metadata }), origin));
    assert.deepEqual(Object.keys(pod.metadata).sort(), ['annotations', 'labels', 'name', 'namespace', 'uid']);
  });

  it('must be one pod of version v1', () => {
    assert.deepEqual(problemsOf(parseFilePod([], origin)), ['kind: must be Pod (got nothing)']);
    assert.deepEqual(problemsOf(parseFilePod({ ...aDocument(), kind: 'PodList' }, origin)), [
      'kind: must be Pod (got "PodList")',
    ]);
    assert.deepEqual(problemsOf(parseFilePod({ ...aDocument(), apiVersion: 'v2' }, origin)), [
      'apiVersion: must be v1 (got "v2")',
    ]);
    assert.deepEqual(problemsOf(parseFilePod(aDocument({ metadata: { name: null } }), origin)), [
      'metadata.name: name is needed for the pod',
    ]);
    assert.deepEqual(problemsOf(parseHttpPods({ kind: 'PodList', apiVersion: 'v2', items: [] }, fromUrl)), [
      'apiVersion: must be v1 (got "v2")',
    ]);
  });
});
