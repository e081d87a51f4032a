import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../../../src/machinery/api/node.ts';
import { defaultControllerOptions } from '../../../../src/controller/model/options.ts';
import { OutOfServiceChecker } from '../../../simulator/checkers/out-of-service-checker.ts';
import { hostname } from '../../../simulator/policy-zones.ts';
import type { World } from '../../../../src/simulator/world.ts';
import { aPolicy } from '../../../support/builders.ts';

const noExecute = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const out = { key: 'node.kubernetes.io/out-of-service', value: 'node-lifecycle-controller', effect: 'NoExecute' };
const record = JSON.stringify({ bootID: 'b1', evidence: 'annotation', addedAt: '2026-01-02T03:04:05Z' });

interface Story {
  readonly ready?: string;
  readonly allowed?: string;
  readonly annotations?: Record<string, string>;
  readonly taints?: readonly Record<string, string>[];
  readonly bootID?: string;
}

/** A node of which boot b1 was fenced. */
function aNode({
  ready = 'Unknown',
  allowed = 'allowed',
  annotations,
  taints = [noExecute],
  bootID = 'b1',
}: Story): Node {
  const labels = { 'nodelifecycle/out-of-service': allowed };
  return {
    metadata: { name: 'n1', labels, annotations: annotations ?? { 'nodelifecycle/fenced': 'b1' } },
    spec: { taints },
    status: { conditions: [{ type: 'Ready', status: ready }], nodeInfo: { bootID } },
  } as unknown as Node;
}

interface Truth {
  readonly hasPolicy?: boolean;
  /** The last boot of the machine, in which it runs or is off. */
  readonly boot?: string;
}

/** What is reported when a replica changes the node. */
function check(before: Node, after: Node, { hasPolicy = true, boot = 'b2' }: Truth = {}): readonly string[] {
  const reported: string[] = [];
  const listeners: ((...args: unknown[]) => void)[] = [];
  const selector = [{ key: hostname, operator: 'In', values: ['n1'] }] as const;
  const policies = hasPolicy ? [aPolicy({ selector, outOfService: { conditions: [], taints: [] } })] : [];
  const world = {
    storage: { onCommit: (listener: never) => listeners.push(listener), decode: (_: string, node: Node) => node },
    timeline: { nowMs: 1_000_000 },
    restoredAtMs: -Infinity,
    fleet: { kubelet: () => ({ health: { bootId: boot } }) },
    settings: [{ fromMs: 0, options: { ...defaultControllerOptions, policies } }],
  } as unknown as World;
  new OutOfServiceChecker(world, (_invariant, _subject, text) => reported.push(text), 1_000).begin();
  const change = { kind: 'modified', object: Object.assign(after, { name: 'n1' }), previous: before };
  for (const listener of listeners) listener('nodes', change, { process: 'replica-1', client: 'main' });
  return reported;
}

function add(story: Story, truth: Truth = {}): string {
  const taints = [...(story.taints ?? [noExecute]), out];
  return check(aNode(story), aNode({ ...story, taints }), truth).join();
}

test('the taint is added with evidence about this boot only, while the machine has ended it', () => {
  assert.equal(add({}), '');
  assert.match(add({ annotations: { 'nodelifecycle/fenced': 'b0' } }), /nothing says that boot b1 was ended/u);
  assert.match(add({ annotations: {} }), /nothing says/u);
  assert.match(add({ bootID: '' }), /no boot ID/u);
  assert.match(add({}, { boot: 'b1' }), /the machine runs in boot b1/u);
});

test('a policy and the label allow it, and the node is Unknown and tainted', () => {
  assert.match(add({}, { hasPolicy: false }), /no policy/u);
  assert.match(add({ allowed: 'true' }), /label/u);
  assert.match(add({ ready: 'False' }), /Ready is False/u);
  assert.match(add({ taints: [] }), /no NoExecute taint/u);
});

test('the taint is removed with another boot only', () => {
  const annotations = { 'nodelifecycle/out-of-service-evidence': record };
  const before = { ready: 'True', annotations, taints: [out] };
  assert.deepEqual(check(aNode({ ...before, bootID: 'b2' }), aNode({ ...before, taints: [], bootID: 'b2' })), []);
  assert.match(check(aNode(before), aNode({ ...before, taints: [] })).join(), /boot ID b1, which was fenced/u);
});
