// The oracle of the high availability test finds each thing that may go wrong, in a story in which nothing else does.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { AuditedRequest } from '../../../control-plane/audit-trail.ts';
import { gather, type Recording } from '../../../control-plane/high-availability/evidence.ts';
import { findViolations } from '../../../control-plane/high-availability/violations.ts';
import { tableOf } from '../../../control-plane/high-availability/measure.ts';
import { findTerms } from '../../../control-plane/high-availability/leadership-terms.ts';
import type { NodeJson, PodJson } from '../../../control-plane/scripted-cluster.ts';

const startMs = Date.parse('2026-01-01T00:00:00Z');
const both = ['NoSchedule', 'NoExecute'];
const nothing = { namespace: '', name: '', subresource: '', body: undefined, answer: undefined, uri: '' };

/** A request at this second, answered 10 ms later. */
function request(second: number, given: Partial<AuditedRequest>): AuditedRequest {
  const atMs = startMs + second * 1_000;
  return { ...nothing, atMs, endedAtMs: atMs + 10, user: 'a', verb: 'patch', resource: 'pods', code: 200, ...given };
}

/** The resourceVersion of a write at this second: writes are stored in the order of their times. */
function versionAt(second: number): string {
  return String(1_000_000 + second * 1_000);
}

function lease(second: number, user: string, holderIdentity = user): AuditedRequest {
  const about = { resource: 'leases', namespace: 'kube-system', name: 'node-lifecycle-controller' };
  const answer = { metadata: { resourceVersion: versionAt(second) }, spec: { holderIdentity } };
  return request(second, { ...about, user, verb: 'update', answer });
}

function taint(
  second: number,
  user: string,
  name: string,
  taints: readonly string[],
  stampSecond = second,
): AuditedRequest {
  const timeAdded = new Date(startMs + Math.floor(stampSecond) * 1_000).toISOString();
  const spec = {
    taints: taints.map((effect) => {
      return { key: 'node.kubernetes.io/unreachable', effect, ...(effect === 'NoExecute' ? { timeAdded } : {}) };
    }),
  };
  const answer = { metadata: { resourceVersion: versionAt(second) }, spec };
  return request(second, { resource: 'nodes', name, user, body: { spec }, answer });
}

const cleared = (second: number, user: string, name: string): AuditedRequest => taint(second, user, name, []);
const renewal = (second: number, name: string): AuditedRequest =>
  request(second, { user: 'admin', resource: 'leases', namespace: 'kube-node-lease', name });
const posted = (second: number, name: string): AuditedRequest =>
  request(second, { user: 'admin', resource: 'nodes', subresource: 'status', name });
const deletion = (second: number, user: string, uid: string): AuditedRequest =>
  request(second, { user, verb: 'delete', name: uid, body: { preconditions: { uid } } });

interface StoryOptions {
  readonly takenAt?: number;
  readonly tainted?: AuditedRequest;
  readonly deletedAt?: number;
}

/** `n` becomes silent at 0 and is tainted at 8.2; `a` is killed at 10, `b` leads after that; the pod is due at 12, `n` recovers at 30. */
function storyOf(options: StoryOptions = {}): readonly AuditedRequest[] {
  const { takenAt = 16, tainted = taint(8.2, 'a', 'n', both) } = options;
  const { deletedAt = takenAt + 0.5 } = options;
  return [
    lease(-5, 'a'),
    renewal(-5, 'n'),
    cleared(-4, 'a', 'n'),
    renewal(0, 'n'),
    lease(4, 'a'),
    taint(7, 'a', 'n', ['NoSchedule']),
    lease(8, 'a'),
    tainted,
    lease(9.9, 'a'),
    lease(takenAt, 'b'),
    deletion(deletedAt, 'b', 'p'),
    posted(30, 'n'),
    lease(28, 'b'),
    cleared(30.1, 'b', 'n'),
  ];
}

function recording(requests: readonly AuditedRequest[], differences: Partial<Recording> = {}): Recording {
  return {
    requests: requests.toSorted((a, b) => a.atMs - b.atMs),
    replicas: new Set(['a', 'b']),
    handovers: [{ name: 'SIGKILL', stoppedAtMs: startMs + 10_000, lateMax: 0 }],
    pods: [{ uid: 'p', name: 'p', node: 'n', patienceSeconds: 3, ready: false }],
    zoneOf: new Map([['n', 'z']]),
    silent: new Set(),
    nodesAtEnd: [nodeJson('n')],
    podsAtEnd: [],
    endedAtMs: startMs + 45_000,
    ...differences,
  };
}

const violationsOf = (story: readonly AuditedRequest[], differences: Partial<Recording> = {}): readonly string[] =>
  findViolations(gather(recording(story, differences)));
const violations = (...added: readonly AuditedRequest[]): readonly string[] => violationsOf([...storyOf(), ...added]);
const event = (second: number, user: string): AuditedRequest =>
  request(second, { user, verb: 'create', resource: 'events' });

function assertViolations(found: readonly string[], ...expected: readonly RegExp[]): void {
  assert.equal(found.length, expected.length, found.join('\n'));
  for (const [place, sentence] of expected.entries()) assert.match(found[place] ?? '', sentence);
}

test('a correct handover has no violations', () => {
  assert.deepEqual(violations(), []);
  assert.match(tableOf(gather(recording(storyOf()))), /^SIGKILL +\| - +\| 6\.00 +\| 6\.50 +\| 1 +\| 0\.50 +\| 0\.50/m);
});

describe('leadership', () => {
  test('terms are in the order of resourceVersion', () => {
    const [first, second] = findTerms([lease(1, 'a'), lease(2, 'a', ''), lease(3, 'b')].toReversed());
    assert.deepEqual([first?.user, first?.releasedAtMs, second?.user], ['a', startMs + 2_000, 'b']);
  });

  test('a write of the former leader while another leads is a violation', () => {
    assertViolations(violations(event(17, 'a')), /a create events .*, but the leader was b/);
  });

  test('a write after the expiry of the lease is a violation without a new leader too', () => {
    assertViolations(violations(event(15.95, 'a')), /50\.?\d* ms after its lease had run out/);
  });

  test('a write that is answered while another leads is a violation', () => {
    assertViolations(
      violations({ ...event(15, 'a'), endedAtMs: startMs + 16_500 }),
      /answered after its lease was over/,
    );
  });

  test('a lease that is acquired before its expiry, or too late, is a violation', () => {
    assertViolations(violationsOf(storyOf({ takenAt: 15 })), /b took the lease of a 900 ms before its end/);
    assertViolations(violationsOf(storyOf({ takenAt: 20 })), /the lease of a was free for 4100 ms/);
  });

  test('more than two changes of leader without a cause are a violation', () => {
    const lost = [lease(33, 'b'), lease(39.1, 'a'), lease(45.2, 'b'), lease(51.3, 'a')];
    assert.deepEqual(violations(...lost.slice(0, 3)), []);
    assertViolations(violations(...lost), /3 changes of leader without a cause/);
  });

  test('late requests may be rejected, or delete pods that were due when they were sent', () => {
    const cut = { handovers: [{ name: 'cut', stoppedAtMs: startMs + 10_000, lateMax: 1 }] };
    const late = (write: AuditedRequest): readonly string[] => violationsOf([...storyOf(), write], cut);
    assert.deepEqual(late(event(17, 'a')), []);
    assertViolations(
      violationsOf([...storyOf(), event(17, 'a'), event(18, 'a')], cut),
      /2 requests arrived late after cut/,
    );
    assert.deepEqual(late({ ...taint(17, 'a', 'n', both), code: 409 }), []);
    assertViolations(
      late(taint(17, 'a', 'n', both, 8.2)),
      /late, and done: a patch nodes n/,
      /n was written without a change/,
    );
    assert.deepEqual(late(deletion(17, 'a', 'p')), [], 'due at 11, before its sender was cut off');
    assertViolations(late(deletion(17, 'a', 'q')), /late, and done: a delete pods q/);
  });
});

describe('writes', () => {
  test('a taint on a node with heartbeats, or no taint on a silent node, is a violation', () => {
    assertViolations(
      violations(renewal(4, 'n')),
      /n unreachable:NoSchedule, despite a heartbeat/,
      /n unreachable:NoExecute, despite a heartbeat/,
    );
    const silent = {
      ...recording([]),
      requests: [renewal(0, 'm'), ...storyOf()],
      zoneOf: new Map([
        ['m', 'z'],
        ['n', 'z'],
      ]),
    };
    const found = findViolations(gather({ ...silent, nodesAtEnd: ['m', 'n'].map(nodeJson) }));
    assertViolations(
      found,
      /m silent from .*: no unreachable:NoSchedule/,
      /m silent from .*: no unreachable:NoExecute/,
    );
  });

  test('a taint that is written twice, restamped, or removed from a silent node is a violation', () => {
    assertViolations(violations(taint(17, 'b', 'n', both, 8.2)), /b at .*: n was written without a change/);
    assertViolations(violations(taint(17, 'b', 'n', both)), /unreachable:NoExecute has another timeAdded/);
    const strip = cleared(17, 'b', 'n');
    assert.match(violationsOf([...storyOf(), strip]).join('\n'), /lost unreachable:NoExecute while silent/);
  });

  test('a pod that is deleted too early, twice, after its node recovered, or never, is a violation', () => {
    assertViolations(
      violationsOf(storyOf({ tainted: taint(8.2, 'a', 'n', both, 14) })),
      /p was deleted 500 ms too early/,
    );
    assertViolations(violations(deletion(17, 'b', 'p')), /p was deleted 2 times/);
    assertViolations(
      violationsOf([...storyOf({ deletedAt: 16.5 }), posted(13, 'n'), renewal(20, 'n')]),
      /p was deleted 3490 ms after its node recovered/,
    );
    const kept = storyOf().filter(({ verb }) => verb !== 'delete');
    const withPod = { podsAtEnd: [podJson('p')] };
    const longer = [
      ...kept.filter(({ atMs }) => atMs < startMs + 29_000),
      lease(49, 'b'),
      posted(50, 'n'),
      cleared(50.1, 'b', 'n'),
    ];
    assertViolations(violationsOf(longer, withPod), /p was due at .* and still exists/);
    assertViolations(violationsOf(kept, { endedAtMs: startMs + 31_000 }), /p is gone without a delete request/);
  });

  test('more taints than the rate of a zone allows are a violation', () => {
    const names = Array.from({ length: 12 }, (_, i) => `m${i}`);
    const nodes = {
      zoneOf: new Map(['n', ...names].map((name) => [name, 'z'])),
      nodesAtEnd: ['n', ...names].map(nodeJson),
    };
    const many = names.flatMap((name) => {
      return [renewal(0, name), taint(17, 'b', name, both), posted(19, name), cleared(19.1, 'b', name)];
    });
    const found = violationsOf([...storyOf(), ...many], nodes);
    assert.match(found.join('\n'), /z: \d+ taints within 0 ms at 4\/s/);
  });

  test('a node with unexpected taints at the end is a violation', () => {
    const ends = {
      metadata: { name: 'n', uid: 'n', resourceVersion: '' },
      spec: { taints: [{ key: 'k', effect: 'NoExecute' }] },
    };
    assertViolations(
      violationsOf(storyOf(), { nodesAtEnd: [{ ...ends, status: { conditions: [] } }] }),
      /n ends with the taints k:NoExecute/,
    );
  });
});

function nodeJson(name: string): NodeJson {
  return { metadata: { name, uid: name, resourceVersion: '' }, spec: {}, status: { conditions: [] } };
}

function podJson(name: string): PodJson {
  return { metadata: { name, uid: name }, status: {} };
}
