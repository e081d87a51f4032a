import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assessPod } from '../../../../src/kubelet/pod-config/assess-pod.ts';
import { derivePodDefaults } from '../../../../src/kubelet/pod-config/derive-pod-defaults.ts';

type Json = Readonly<Record<string, unknown>>;

function flawsOf(spec: Json, metadata: Json = {}): readonly string[] {
  const containers = [{ name: 'c', image: 'img:1' }];
  return assessPod({
    metadata: { name: 'web-n1', namespace: 'default', uid: 'u', ...metadata },
    spec: derivePodDefaults({ containers, ...spec }),
  });
}

/** The fields that are refused, each with the value that is shown. */
function refused(spec: Json, metadata: Json = {}): readonly string[] {
  return flawsOf(spec, metadata).map((flaw) => flaw.replace(/; accepted: .+$/, ''));
}

const one = (fields: Json): Json => ({ containers: [{ name: 'c', image: 'img:1', ...fields }] });
const init = (fields: Json): Json => ({ initContainers: [{ name: 'i', image: 'img:1', ...fields }] });
const port = (...ports: readonly Json[]): Json => one({ ports });

describe('a pod that an author wrote', () => {
  it('is taken as it is where nothing is wrong', () => {
    assert.deepEqual(
      flawsOf({
        restartPolicy: 'OnFailure',
        terminationGracePeriodSeconds: 0,
        activeDeadlineSeconds: 60,
        hostNetwork: true,
        nodeSelector: { 'kubernetes.io/os': 'linux' },
        tolerations: [{ key: 'a.b/c', operator: 'Equal', value: 'x', effect: 'NoExecute', tolerationSeconds: 30 }],
        volumes: [
          { name: 'host', hostPath: { path: '/var/lib', type: 'Directory' } },
          { name: 'empty', emptyDir: { sizeLimit: '1Gi' } },
        ],
        initContainers: [
          { name: 'setup', image: 'img:1', command: ['sh'] },
          { name: 'sidecar', image: 'img:1', restartPolicy: 'Always', readinessProbe: { tcpSocket: { port: 80 } } },
        ],
        containers: [
          {
            name: 'c',
            image: 'img:1',
            args: ['--a'],
            env: [
              { name: 'A.b-c', value: 'x' },
              { name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIP' } } },
            ],
            ports: [{ name: 'https', containerPort: 443 }],
            resources: { limits: { cpu: 2, memory: '1.5Gi', 'example.com/gpu': '1' }, requests: { cpu: '0.5' } },
            volumeMounts: [{ name: 'host', mountPath: '/host', mountPropagation: 'HostToContainer' }],
            readinessProbe: { exec: { command: ['true'] }, successThreshold: 3 },
            lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } },
          },
        ],
      }),
      [],
    );
  });

  it('is told the field, what was there and what is accepted', () => {
    assert.deepEqual(flawsOf({ restartPolicy: 'Sometimes' }), [
      'spec.restartPolicy: got "Sometimes"; accepted: Always, OnFailure, Never',
    ]);
    assert.deepEqual(flawsOf(port({ name: 'http' })), [
      'spec.containers[0].ports[0].containerPort: got nothing; accepted: a number from 1 to 65535',
    ]);
  });

  const cases: readonly (readonly [string, Json, readonly string[]])[] = [
    ['has containers', { containers: [] }, ['spec.containers: got []']],
    ['has a list of them', { containers: 'c' }, ['spec.containers: got "c"', 'spec.containers: got "c"']],
    ['names them', one({ name: '' }), ['spec.containers[0].name: got ""']],
    ['names them as DNS does', one({ name: 'C_1' }), ['spec.containers[0].name: got "C_1"']],
    ['names each differently', init({ name: 'c' }), ['spec.initContainers[0].name: got "c"']],
    ['says of what image', one({ image: '' }), ['spec.containers[0].image: got ""']],
    ['says it without spaces', one({ image: 'img:1 ' }), ['spec.containers[0].image: got "img:1 "']],
    ['pulls as one can', one({ imagePullPolicy: 'Maybe' }), ['spec.containers[0].imagePullPolicy: got "Maybe"']],
    ['restarts sidecars only', one({ restartPolicy: 'Always' }), ['spec.containers[0].restartPolicy: got "Always"']],
    ['restarts them always', init({ restartPolicy: 'Never' }), ['spec.initContainers[0].restartPolicy: got "Never"']],
    [
      'does not probe what ends',
      init({ readinessProbe: { exec: { command: ['a'] } } }),
      ['spec.initContainers[0].readinessProbe: got {"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,…'],
    ],
    [
      'probes in one way',
      one({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
      ['spec.containers[0].livenessProbe: got ["exec","tcpSocket"]'],
    ],
    ['probes somehow', one({ livenessProbe: {} }), ['spec.containers[0].livenessProbe: got []']],
    [
      'probes a port',
      one({ startupProbe: { httpGet: { port: 0 } } }),
      ['spec.containers[0].startupProbe.httpGet.port: got 0'],
    ],
    [
      'lives after one success',
      one({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2, periodSeconds: -1 } }),
      [
        'spec.containers[0].livenessProbe.periodSeconds: got -1',
        'spec.containers[0].livenessProbe.successThreshold: got 2',
      ],
    ],
    ['has commands of texts', one({ command: ['a', 1] }), ['spec.containers[0].command[1]: got 1']],
    ['has ports that exist', port({ containerPort: 70000 }), ['spec.containers[0].ports[0].containerPort: got 70000']],
    [
      'speaks a protocol',
      port({ containerPort: 1, protocol: 'HTTP' }),
      ['spec.containers[0].ports[0].protocol: got "HTTP"'],
    ],
    [
      'names ports as services are',
      port({ containerPort: 1, name: 'a--b' }, { containerPort: 2, name: '80' }),
      ['spec.containers[0].ports[0].name: got "a--b"', 'spec.containers[0].ports[1].name: got "80"'],
    ],
    [
      'names each port differently',
      port({ containerPort: 1, name: 'a' }, { containerPort: 2, name: 'a' }),
      ['spec.containers[0].ports[1].name: got "a"'],
    ],
    [
      'takes a port of the host once',
      port({ containerPort: 1, hostPort: 80 }, { containerPort: 2, hostPort: 80 }),
      ['spec.containers[0].ports[1].hostPort: got 80'],
    ],
    [
      'has the ports of the host on its network',
      { hostNetwork: true, ...port({ containerPort: 1, hostPort: 80 }) },
      ['spec.containers[0].ports[0].hostPort: got 80'],
    ],
    [
      'asks for amounts',
      one({ resources: { limits: { cpu: 'much', memory: '-1' }, requests: { disk: '1' } } }),
      [
        'spec.containers[0].resources.limits.cpu: got "much"',
        'spec.containers[0].resources.limits.memory: got "-1"',
        'spec.containers[0].resources.requests: got "disk"',
      ],
    ],
    [
      'asks for no more than it may have',
      one({ resources: { limits: { cpu: '500m' }, requests: { cpu: 1 } } }),
      ['spec.containers[0].resources.requests.cpu: got 1'],
    ],
    [
      'shares no devices',
      one({ resources: { limits: { 'a.b/gpu': '2' }, requests: { 'a.b/gpu': '1' } } }),
      ['spec.containers[0].resources.requests.a.b/gpu: got "1"'],
    ],
    [
      'names its variables',
      one({ env: [{ name: 'A=B' }, { value: 'x' }] }),
      ['spec.containers[0].env[0].name: got "A=B"', 'spec.containers[0].env[1].name: got nothing'],
    ],
    [
      'gives them one value',
      one({ env: [{ name: 'A', value: 'x', valueFrom: {} }] }),
      ['spec.containers[0].env[0].valueFrom: got {}'],
    ],
    [
      'mounts volumes that it has',
      one({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
      ['spec.containers[0].volumeMounts[0].name: got "v"'],
    ],
    [
      'mounts them apart',
      {
        volumes: [{ name: 'v' }],
        ...one({ volumeMounts: [{ name: 'v', mountPath: '/v' }, { name: 'v', mountPath: '/v' }, { name: 'v' }] }),
      },
      [
        'spec.containers[0].volumeMounts[1].mountPath: got "/v"',
        'spec.containers[0].volumeMounts[2].mountPath: got nothing',
      ],
    ],
    [
      'names each volume differently',
      { volumes: [{ name: 'v' }, { name: 'v' }, { name: 'V' }] },
      ['spec.volumes[1].name: got "v"', 'spec.volumes[2].name: got "V"'],
    ],
    [
      'has volumes of one kind',
      { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/a' } }] },
      ['spec.volumes[0]: got ["emptyDir","hostPath"]'],
    ],
    [
      'climbs no paths',
      { volumes: [{ name: 'v', hostPath: { path: '/a/../b', type: 'Dir' } }] },
      ['spec.volumes[0].hostPath.path: got "/a/../b"', 'spec.volumes[0].hostPath.type: got "Dir"'],
    ],
    [
      'ends some day',
      { terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0 },
      ['spec.terminationGracePeriodSeconds: got -1', 'spec.activeDeadlineSeconds: got 0'],
    ],
    [
      'counts in whole seconds',
      { terminationGracePeriodSeconds: '30' },
      ['spec.terminationGracePeriodSeconds: got "30"'],
    ],
    ['asks a DNS that exists', { dnsPolicy: 'None' }, ['spec.dnsConfig.nameservers: got nothing']],
    ['has a host name', { hostname: 'a.b' }, ['spec.hostname: got "a.b"']],
    ['has flags that are flags', { hostPID: 'yes' }, ['spec.hostPID: got "yes"']],
    [
      'shares processes with one side',
      { hostPID: true, shareProcessNamespace: true },
      ['spec.shareProcessNamespace: got true'],
    ],
    [
      'tolerates what can be tolerated',
      {
        tolerations: [
          { operator: 'Equal' },
          { key: 'a', operator: 'Exists', value: 'x' },
          { key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 },
          { key: '-', operator: 'Like', effect: 'Never' },
        ],
      },
      [
        'spec.tolerations[0].operator: got "Equal"',
        'spec.tolerations[1].value: got "x"',
        'spec.tolerations[2].effect: got "NoSchedule"',
        'spec.tolerations[3].key: got "-"',
        'spec.tolerations[3].operator: got "Like"',
        'spec.tolerations[3].effect: got "Never"',
      ],
    ],
    ['selects by labels', { nodeSelector: { a: 'x y' } }, ['spec.nodeSelector["a"]: got "x y"']],
    ['waits for no gates', { schedulingGates: [{ name: 'a' }] }, ['spec.schedulingGates: got [{"name":"a"}]']],
    [
      'has no ephemeral containers yet',
      { ephemeralContainers: [{ name: 'd' }] },
      ['spec.ephemeralContainers: got [{"name":"d"}]'],
    ],
  ];
  for (const [rule, spec, expected] of cases) {
    it(rule, () => assert.deepEqual(refused(spec), expected));
  }

  it('has a name, labels and annotations like everybody', () => {
    const long = 'x'.repeat(254);
    assert.deepEqual(refused({}, { name: 'Web' }), ['metadata.name: got "Web"']);
    assert.equal(refused({}, { name: long }).length, 1);
    assert.deepEqual(refused({}, { namespace: 'a.b' }), ['metadata.namespace: got "a.b"']);
    assert.deepEqual(refused({}, { labels: { '-': 'a', b: 'c d', e: 1 } }), [
      'metadata.labels["e"]: got 1',
      'metadata.labels: got "-"',
      'metadata.labels["b"]: got "c d"',
    ]);
    assert.deepEqual(refused({}, { annotations: { 'A.b/c': 'any thing', '/': '' } }), [
      'metadata.annotations: got "/"',
    ]);
    assert.deepEqual(refused({}, { annotations: { a: 'x'.repeat(256 * 1024) } }), ['metadata.annotations: got 262145']);
  });

  it('has a spec', () => {
    assert.deepEqual(assessPod({ metadata: { name: 'a', uid: 'u' }, spec: [] }).slice(0, 2), [
      'spec: got []; accepted: an object',
      'spec.containers: got nothing; accepted: a list of one container or more',
    ]);
  });
});
