// Two replicas under load on a real API server; the leader is stopped in several ways. The audit log is checked by one
// oracle: high-availability/violations.ts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditTrail } from './audit-trail.ts';
import { type AuditRule, type ControlPlane, startControlPlane } from './control-plane.ts';
import { type Evidence, gather, type Handover } from './high-availability/evidence.ts';
import { Fleet, longestPatienceSeconds, type Part } from './high-availability/fleet.ts';
import { findViolations } from './high-availability/violations.ts';
import { lateArrivals, tableOf } from './high-availability/measure.ts';
import { Replica } from './high-availability/replica.ts';
import { graceMs, lease } from './high-availability/settings.ts';
import type { NodeJson, PodJson } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 40_000 };
const setUpMs = 120_000;
const users = Array.from({ length: 14 }, (_, i) => `replica-${i}`);
/** The `late` nodes become silent this long before the leader stops: their grace period ends without a leader. */
const lateAheadMs = graceMs - 2_000;
/** `--concurrent-writes`, and concurrent requests for Events and labels. */
const writesUnderWayMax = 20;
const recoverAfterMs = [300, 1_500, 3_000];

type Way = (leader: Replica, standby: Replica) => Promise<void>;

/** Stops the leader, waits until another replica leads, and waits for the exit of the old leader. */
const ways: Readonly<Record<string, Way>> = {
  SIGTERM: async (leader, standby) => {
    stopped('SIGTERM');
    leader.process.signal('SIGTERM');
    await takenOver(standby);
    assert.deepEqual(await leader.process.exited, { code: 0, signal: null });
  },
  SIGKILL: async (leader, standby) => {
    stopped('SIGKILL');
    await leader.process.kill();
    await takenOver(standby);
  },
  'cut off, silent': async (leader, standby) => {
    stopped('cut off, silent', { lateMax: writesUnderWayMax });
    leader.way.freeze({ alsoNew: true });
    await takenOver(standby);
    assert.equal((await leader.process.exited).code, 1);
    await sleep(1_500);
    leader.way.thaw();
  },
  'cut off, refused': async (leader, standby) => {
    stopped('cut off, refused');
    await leader.way.refuse();
    await takenOver(standby);
    await leader.way.admit();
    assert.equal((await leader.process.exited).code, 1);
  },
  'SIGSTOP, SIGCONT': async (leader, standby) => {
    // One request may be sent between the last check of the clock and the system call.
    stopped('SIGSTOP, SIGCONT', { lateMax: 1 });
    leader.process.signal('SIGSTOP');
    await takenOver(standby);
    await sleep(1_000);
    leader.process.signal('SIGCONT');
    assert.equal((await leader.process.exited).code, 1);
  },
  'rolling update': async (leader, standby) => {
    const third = await startReplica();
    stopped('rolling update, 1st');
    assert.deepEqual(await leader.process.terminate(), { code: 0, signal: null });
    const next = await Promise.race([standby, third].map((replica) => takenOver(replica).then(() => replica)));
    await startReplica();
    if (next === standby) stopped('rolling update, 2nd');
    assert.deepEqual(await standby.process.terminate(), { code: 0, signal: null });
  },
};

const handovers: Handover[] = [];
const replicas: Replica[] = [];
/** Recoveries that run after handovers. */
const rest: Promise<void>[] = [];
let plane: ControlPlane;
let fleet: Fleet;
let evidence: Evidence;

function stopped(name: string, { lateMax = 0 } = {}): void {
  handovers.push({ name, stoppedAtMs: Date.now(), lateMax });
}

const takenOver = (replica: Replica): Promise<true> =>
  waitUntil(`${replica.user} leads`, { timeoutMs: 4 * lease.durationMs }, () => replica.leads);

async function startReplica(): Promise<Replica> {
  const replica = await Replica.start(plane, users[replicas.length] ?? assert.fail('no user is left'));
  replicas.push(replica);
  return replica;
}

const running = (): readonly Replica[] => replicas.filter(({ process }) => !process.hasEnded);

async function secondReplica(): Promise<void> {
  if (running().length < 2) await startReplica();
}

/** The leader and the standby. */
async function pair(): Promise<readonly [Replica, Replica]> {
  return waitUntil('two replicas', soon, async () => {
    await secondReplica();
    const leader = running().find(({ leads }) => leads);
    const standby = running().find((replica) => replica !== leader);
    return leader === undefined || standby === undefined ? undefined : [leader, standby];
  });
}

/** Nodes become silent, the leader is stopped meanwhile, and some nodes recover before another replica leads. */
async function handOver(name: string, way: Way): Promise<void> {
  const { cluster } = fleet;
  const nodesOf = (part: Part): readonly string[] => fleet.nodesOf(name, part);
  const detectable = [...nodesOf('early'), ...nodesOf('returning')];
  for (const node of detectable) cluster.stopHeartbeats(node);
  await Promise.all([sleep(lateAheadMs), secondReplica()]);
  for (const node of nodesOf('late')) cluster.stopHeartbeats(node);
  await tainted(detectable);
  const [leader, standby] = await pair();
  const returning = recoverMeanwhile(nodesOf('returning'));
  await way(leader, standby);
  await returning;
  rest.push(recover([...nodesOf('early'), ...nodesOf('late')]));
}

async function recoverMeanwhile(nodes: readonly string[]): Promise<void> {
  const before = handovers.length;
  await waitUntil('the leader stopped', soon, () => handovers.length > before);
  const startMs = Date.now();
  for (const [place, afterMs] of recoverAfterMs.entries()) {
    await sleep(Math.max(0, startMs + afterMs - Date.now()));
    const now = nodes.filter((_, i) => i % recoverAfterMs.length === place);
    await Promise.all(now.map((node) => fleet.cluster.resumeHeartbeats(node)));
  }
}

async function tainted(names: readonly string[]): Promise<void> {
  await waitUntil('tainted', { ...soon, pollMs: 250 }, async () => {
    const taints = await Promise.all(names.map((name) => fleet.cluster.taints(name)));
    return taints.every((own) => own.includes('unreachable:NoExecute'));
  });
}

/** The nodes recover when all their pods have been evicted. */
async function recover(nodes: readonly string[]): Promise<void> {
  await sleep(longestPatienceSeconds * 1_000);
  await waitUntil(
    'every pod whose toleration has ended is deleted',
    { timeoutMs: 60_000, pollMs: 1_000 },
    async () => (await fleet.keepingPods(nodes)).length === 0,
  );
  await Promise.all(nodes.map((node) => fleet.cluster.resumeHeartbeats(node)));
}

async function nodes(): Promise<readonly NodeJson[]> {
  return (await plane.client().must<{ readonly items: readonly NodeJson[] }>('GET', '/api/v1/nodes')).items;
}

async function untilClean(): Promise<void> {
  const silent = new Set(fleet.silent());
  await waitUntil('no taints except on nodes that stay silent', { ...soon, pollMs: 500 }, async () => {
    const left = (await nodes()).filter(
      ({ metadata, spec }) => !silent.has(metadata.name) && spec.taints !== undefined,
    );
    return left.length === 0;
  });
}

/** Limits the audit log to the requests that the oracle needs. */
const auditRules: readonly AuditRule[] = [
  { level: 'RequestResponse', users, verbs: ['create', 'update', 'patch', 'delete'] },
  { level: 'Metadata', verbs: ['patch'], resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
  { level: 'Metadata', verbs: ['patch'], resources: [{ group: '', resources: ['nodes/status'] }] },
  { level: 'None' },
];

async function gatherAll(): Promise<Evidence> {
  const podsPath = '/api/v1/namespaces/default/pods';
  const nodesAtEnd = await nodes();
  const podsAtEnd = (await plane.client().must<{ readonly items: readonly PodJson[] }>('GET', podsPath)).items;
  const endedAtMs = Date.now();
  const requests = new AuditTrail(plane.auditLogFile ?? '').requests();
  const { pods, zoneOf } = fleet;
  const seen = { requests, handovers, replicas: new Set(users), pods, zoneOf, silent: new Set(fleet.silent()) };
  return gather({ ...seen, nodesAtEnd, podsAtEnd, endedAtMs });
}

before(
  async () => {
    const masters = users.map((name) => ({ name, groups: ['system:masters'] }));
    plane = await startControlPlane({ users: masters, auditLevel: 'RequestResponse', auditRules });
    fleet = new Fleet(plane.client(), Object.keys(ways));
    await fleet.build();
    const first = await startReplica();
    await takenOver(first);
    await startReplica();
    await untilAllClean();
  },
  { timeout: setUpMs },
);

after(async () => {
  await Promise.all(replicas.map((replica) => replica.stop()));
  await fleet?.stop();
  await plane?.stop();
});

/** Waits until no node is tainted; then the zone that stays silent becomes silent. */
async function untilAllClean(): Promise<void> {
  await waitUntil('all clean', soon, async () => (await nodes()).every(({ spec }) => spec.taints === undefined));
  for (const node of fleet.silent()) fleet.cluster.stopHeartbeats(node);
}

test('the leader is stopped in each way under load; another replica takes over', { timeout: 240_000 }, async () => {
  for (const [name, way] of Object.entries(ways)) await handOver(name, way);
  await Promise.all(rest);
  await untilClean();
  evidence = await gatherAll();
  console.log(`${tableOf(evidence)}\nlate arrivals: ${lateArrivals(evidence).join(', ')}`);
});

test('one leader at a time, no duplicate or lost writes, no rate exceeded', () => {
  assert.deepEqual(findViolations(evidence), []);
});
