import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validateStaticPod } from '../../../../../src/hollow-cluster/kubelet/static-pods/validate-static-pod.ts';
import { buildPodDefaults } from '../../../../../src/machinery/api/pod-defaults.ts';

type Json = Readonly<Record<string, unknown>>;

function problemsOf(spec: Json, metadata: Json = {}): readonly string[] {
  const containers = [{ name: 'c', image: 'img:1' }];
  return validateStaticPod({
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
  });

  const cases: readonly (readonly [string, Json, ...string[]])[] = [
    ['requires a container', { containers: [] }, 'spec.containers: got []'],
    ['requires a list of containers', { containers: 'c' }, 'spec.containers: got "c"', 'spec.containers: got "c"'],
    ['requires container names', one({ name: '' }), 'c.name: got ""'],
    ['requires DNS labels as container names', one({ name: 'C_1' }), 'c.name: got "C_1"'],
    ['requires unique container names', init({ name: 'c' }), 'i.name: got "c"'],
    ['requires an image', one({ image: '' }), 'c.image: got ""'],
    ['rejects a port above 65535', port({ containerPort: 70000 }), 'c.ports[0].containerPort: got 70000'],
    [
      'requires an integer grace period',
      { terminationGracePeriodSeconds: '30' },
      'spec.terminationGracePeriodSeconds: got "30"',
    ],
    [
      'rejects quantities that are none',
      one({ resources: { requests: { cpu: 'much', memory: '-1' } } }),
      'c.resources.requests.cpu: got "much"',
      'c.resources.requests.memory: got "-1"',
    ],
    [
      'rejects negative times of a probe',
      one({ livenessProbe: { periodSeconds: -1 } }),
      'c.livenessProbe.periodSeconds: got -1',
    ],
    ['requires a flag', { hostNetwork: 'yes' }, 'spec.hostNetwork: got "yes"'],
    ['requires texts in tolerations', { tolerations: [{ key: 1 }] }, 'spec.tolerations[0].key: got 1'],
  ];
  for (const [rule, spec, ...expected] of cases) {
    it(rule, () => assert.deepEqual(refused(spec), expected));
  }

  it('validates name, namespace and labels', () => {
    const long = 'x'.repeat(254);
    assert.deepEqual(refused({}, { name: 'Web' }), ['metadata.name: got "Web"']);
    assert.equal(refused({}, { name: long }).length, 1);
    assert.deepEqual(refused({}, { namespace: 'a.b' }), ['metadata.namespace: got "a.b"']);
    assert.deepEqual(refused({}, { labels: { e: 1 } }), ['metadata.labels["e"]: got 1']);
  });

  it('requires a spec', () => {
    assert.deepEqual(validateStaticPod({ metadata: { name: 'a', uid: 'u' }, spec: [] }).slice(0, 2), [
      'spec: must be an object (got [])',
      'spec.containers: must be a list of at least one container (got nothing)',
    ]);
  });
});
