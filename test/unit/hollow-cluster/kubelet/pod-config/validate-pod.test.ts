import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validatePod } from '../../../../../src/hollow-cluster/kubelet/pod-config/validate-pod.ts';
import { buildPodDefaults } from '../../../../../src/hollow-cluster/kubelet/static-pods/build-pod-defaults.ts';

type Json = Readonly<Record<string, unknown>>;

function problemsOf(spec: Json, metadata: Json = {}): readonly string[] {
  const containers = [{ name: 'c', image: 'img:1' }];
  return validatePod({
    metadata: { name: 'web-n1', namespace: 'default', uid: 'u', ...metadata },
    spec: buildPodDefaults({ containers, ...spec }),
  });
}

/** The rejected fields, each with the reported value; `c.` and `i.`: of the first container and init container. */
function refused(spec: Json, metadata: Json = {}): readonly string[] {
  return problemsOf(spec, metadata).map((problem) =>
    problem
      .replace(/: must be .+? \(got (.*)\)$/s, ': got $1')
      .replace('spec.containers[0].', 'c.')
      .replace('spec.initContainers[0].', 'i.'),
  );
}

const one = (fields: Json): Json => ({ containers: [{ name: 'c', image: 'img:1', ...fields }] });
const init = (fields: Json): Json => ({ initContainers: [{ name: 'i', image: 'img:1', ...fields }] });
const port = (...ports: readonly Json[]): Json => one({ ports });

describe('the validation of a static pod', () => {
  it('accepts a valid pod unchanged', () => {
    assert.deepEqual(
      problemsOf({
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

  it('reports field, value and accepted values', () => {
    assert.deepEqual(problemsOf({ restartPolicy: 'Sometimes' }), [
      'spec.restartPolicy: must be one of Always, OnFailure, Never (got "Sometimes")',
    ]);
    assert.deepEqual(problemsOf(port({ name: 'http' })), [
      'spec.containers[0].ports[0].containerPort: must be a number from 1 to 65535 (got nothing)',
    ]);
  });

  const cases: readonly (readonly [string, Json, ...string[]])[] = [
    ['requires a container', { containers: [] }, 'spec.containers: got []'],
    ['requires a list of containers', { containers: 'c' }, 'spec.containers: got "c"', 'spec.containers: got "c"'],
    ['requires container names', one({ name: '' }), 'c.name: got ""'],
    ['requires DNS labels as container names', one({ name: 'C_1' }), 'c.name: got "C_1"'],
    ['requires unique container names', init({ name: 'c' }), 'i.name: got "c"'],
    ['requires an image', one({ image: '' }), 'c.image: got ""'],
    ['rejects an image with surrounding spaces', one({ image: 'img:1 ' }), 'c.image: got "img:1 "'],
    ['rejects an unknown pull policy', one({ imagePullPolicy: 'Maybe' }), 'c.imagePullPolicy: got "Maybe"'],
    [
      'rejects a restart policy of a regular container',
      one({ restartPolicy: 'Always' }),
      'c.restartPolicy: got "Always"',
    ],
    [
      'rejects a restart policy other than Always of an init container',
      init({ restartPolicy: 'Never' }),
      'i.restartPolicy: got "Never"',
    ],
    [
      'rejects a probe of an init container',
      init({ readinessProbe: { exec: { command: ['a'] } } }),
      'i.readinessProbe: got {"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,…',
    ],
    [
      'rejects a probe with two handlers',
      one({ livenessProbe: { exec: { command: ['a'] }, tcpSocket: { port: 1 } } }),
      'c.livenessProbe: got ["exec","tcpSocket"]',
    ],
    ['rejects a probe without a handler', one({ livenessProbe: {} }), 'c.livenessProbe: got []'],
    [
      'rejects an invalid port of a probe',
      one({ startupProbe: { httpGet: { port: 0 } } }),
      'c.startupProbe.httpGet.port: got 0',
    ],
    [
      'requires a success threshold of 1 for liveness probes',
      one({ livenessProbe: { tcpSocket: { port: 1 }, successThreshold: 2, periodSeconds: -1 } }),
      'c.livenessProbe.periodSeconds: got -1',
      'c.livenessProbe.successThreshold: got 2',
    ],
    ['requires strings in a command', one({ command: ['a', 1] }), 'c.command[1]: got 1'],
    ['rejects a port above 65535', port({ containerPort: 70000 }), 'c.ports[0].containerPort: got 70000'],
    ['rejects an unknown protocol', port({ containerPort: 1, protocol: 'HTTP' }), 'c.ports[0].protocol: got "HTTP"'],
    [
      'rejects invalid port names',
      port({ containerPort: 1, name: 'a--b' }, { containerPort: 2, name: '80' }),
      'c.ports[0].name: got "a--b"',
      'c.ports[1].name: got "80"',
    ],
    [
      'requires unique port names',
      port({ containerPort: 1, name: 'a' }, { containerPort: 2, name: 'a' }),
      'c.ports[1].name: got "a"',
    ],
    [
      'requires unique host ports',
      port({ containerPort: 1, hostPort: 80 }, { containerPort: 2, hostPort: 80 }),
      'c.ports[1].hostPort: got 80',
    ],
    [
      'requires host port and container port to be equal with hostNetwork',
      { hostNetwork: true, ...port({ containerPort: 1, hostPort: 80 }) },
      'c.ports[0].hostPort: got 80',
    ],
    [
      'rejects invalid quantities',
      one({ resources: { limits: { cpu: 'much', memory: '-1' }, requests: { disk: '1' } } }),
      'c.resources.limits.cpu: got "much"',
      'c.resources.limits.memory: got "-1"',
      'c.resources.requests: got "disk"',
    ],
    [
      'rejects a request above its limit',
      one({ resources: { limits: { cpu: '500m' }, requests: { cpu: 1 } } }),
      'c.resources.requests.cpu: got 1',
    ],
    [
      'requires equal request and limit of an extended resource',
      one({ resources: { limits: { 'a.b/gpu': '2' }, requests: { 'a.b/gpu': '1' } } }),
      'c.resources.requests.a.b/gpu: got "1"',
    ],
    [
      'requires valid names of environment variables',
      one({ env: [{ name: 'A=B' }, { value: 'x' }] }),
      'c.env[0].name: got "A=B"',
      'c.env[1].name: got nothing',
    ],
    [
      'rejects value together with valueFrom',
      one({ env: [{ name: 'A', value: 'x', valueFrom: {} }] }),
      'c.env[0].valueFrom: got {}',
    ],
    [
      'rejects a mount of an unknown volume',
      one({ volumeMounts: [{ name: 'v', mountPath: '/v' }] }),
      'c.volumeMounts[0].name: got "v"',
    ],
    [
      'requires unique mount paths',
      {
        volumes: [{ name: 'v' }],
        ...one({ volumeMounts: [{ name: 'v', mountPath: '/v' }, { name: 'v', mountPath: '/v' }, { name: 'v' }] }),
      },
      'c.volumeMounts[1].mountPath: got "/v"',
      'c.volumeMounts[2].mountPath: got nothing',
    ],
    [
      'requires unique volume names',
      { volumes: [{ name: 'v' }, { name: 'v' }, { name: 'V' }] },
      'spec.volumes[1].name: got "v"',
      'spec.volumes[2].name: got "V"',
    ],
    [
      'rejects a volume with two types',
      { volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/a' } }] },
      'spec.volumes[0]: got ["emptyDir","hostPath"]',
    ],
    [
      'rejects a host path with ..',
      { volumes: [{ name: 'v', hostPath: { path: '/a/../b', type: 'Dir' } }] },
      'spec.volumes[0].hostPath.path: got "/a/../b"',
      'spec.volumes[0].hostPath.type: got "Dir"',
    ],
    [
      'rejects a negative grace period and a deadline of 0',
      { terminationGracePeriodSeconds: -1, activeDeadlineSeconds: 0 },
      'spec.terminationGracePeriodSeconds: got -1',
      'spec.activeDeadlineSeconds: got 0',
    ],
    [
      'requires an integer grace period',
      { terminationGracePeriodSeconds: '30' },
      'spec.terminationGracePeriodSeconds: got "30"',
    ],
    ['requires nameservers with dnsPolicy None', { dnsPolicy: 'None' }, 'spec.dnsConfig.nameservers: got nothing'],
    ['rejects an invalid hostname', { hostname: 'a.b' }, 'spec.hostname: got "a.b"'],
    ['requires boolean flags', { hostPID: 'yes' }, 'spec.hostPID: got "yes"'],
    [
      'rejects shareProcessNamespace together with hostPID',
      { hostPID: true, shareProcessNamespace: true },
      'spec.shareProcessNamespace: got true',
    ],
    [
      'rejects invalid tolerations',
      {
        tolerations: [
          { operator: 'Equal' },
          { key: 'a', operator: 'Exists', value: 'x' },
          { key: 'a', effect: 'NoSchedule', tolerationSeconds: 1 },
          { key: '-', operator: 'Like', effect: 'Never' },
        ],
      },
      'spec.tolerations[0].operator: got "Equal"',
      'spec.tolerations[1].value: got "x"',
      'spec.tolerations[2].effect: got "NoSchedule"',
      'spec.tolerations[3].key: got "-"',
      'spec.tolerations[3].operator: got "Like"',
      'spec.tolerations[3].effect: got "Never"',
    ],
    [
      'rejects an invalid label in the node selector',
      { nodeSelector: { a: 'x y' } },
      'spec.nodeSelector["a"]: got "x y"',
    ],
    ['rejects scheduling gates', { schedulingGates: [{ name: 'a' }] }, 'spec.schedulingGates: got [{"name":"a"}]'],
    [
      'rejects ephemeral containers',
      { ephemeralContainers: [{ name: 'd' }] },
      'spec.ephemeralContainers: got [{"name":"d"}]',
    ],
  ];
  for (const [rule, spec, ...expected] of cases) {
    it(rule, () => assert.deepEqual(refused(spec), expected));
  }

  it('validates name, namespace, labels and annotations', () => {
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

  it('requires a spec', () => {
    assert.deepEqual(validatePod({ metadata: { name: 'a', uid: 'u' }, spec: [] }).slice(0, 2), [
      'spec: must be an object (got [])',
      'spec.containers: must be a list of at least one container (got nothing)',
    ]);
  });
});
