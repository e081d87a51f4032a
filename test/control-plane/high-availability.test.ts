// Two replicas under load on a real API server, and the one that leads is stopped in every way in which leaders stop. What
// happened is read from the audit log and judged by one oracle: high-availability/judge.ts.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { AuditTrail } from './audit-trail.ts';
import { type AuditRule, type ControlPlane, startControlPlane } from './control-plane.ts';
import { type Evidence, gather, type Handover } from './high-availability/evidence.ts';
import { Fleet, longestPatienceSeconds, type Part } from './high-availability/fleet.ts';
import { judge } from './high-availability/judge.ts';
import { lateArrivals, tableOf } from './high-availability/measure.ts';
import { Replica } from './high-availability/replica.ts';
import { graceMs, lease } from './high-availability/settings.ts';
import type { NodeJson, PodJson } from './scripted-cluster.ts';
import { waitUntil } from './wait-until.ts';

const soon = { timeoutMs: 40_000 };
const setUpMs = 120_000;
const users = Array.from({ length: 14 }, (_, i) => `replica-${i}`);
/** With this much of the grace period left, the late ones fall silent for good when nobody leads. */
const lateAheadMs = graceMs - 2_000;
/** `--concurrent-writes`, and what tells events and labels beside them. */
const writesUnderWayMax = 20;
const comeBackAfterMs = [300, 1_500, 3_000];

type Way = (leader: Replica, standby: Replica) => Promise<void>;

/** Stops the leader, waits until another leads, and sees the old one off. */
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
    // Between the last look at the clock and the system call there is room for one request.
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
/** What is left to do after handovers. */
const rest: Promise<void>[] = [];
let plane: ControlPlane;
let fleet: Fleet;
let evidence: Evidence;

function stopped(name: string, { lateMax = 0 } = {}): void {
  handovers.push({ name, stoppedAtMs: Date.now(), lateMax });
}

const takenOver = (replica: Replica): Promise<true> =>
  waitUntil(`${replica.user} leads`, { timeoutMs: 4 * lease.durationMs }, () => (replica.leads ? true : undefined));

async function startReplica(): Promise<Replica> {
  const replica = await Replica.start(plane, users[replicas.length] ?? assert.fail('no user is left'));
  replicas.push(replica);
  return replica;
}

const running = (): readonly Replica[] => replicas.filter(({ process }) => !process.hasEnded);

async function secondReplica(): Promise<void> {
  if (running().length < 2) await startReplica();
}

/** The one that leads, and the one that does not. */
async function pair(): Promise<readonly [Replica, Replica]> {
  return waitUntil('two replicas', soon, async () => {
    await secondReplica();
    const leader = running().find(({ leads }) => leads);
    const standby = running().find((replica) => replica !== leader);
    return leader === undefined || standby === undefined ? undefined : [leader, standby];
  });
}

/** Nodes fall silent, the leader is stopped in the midst of it, and some come back while nobody leads. */
async function handOver(name: string, way: Way): Promise<void> {
  const { cluster } = fleet;
  const nodesOf = (part: Part): readonly string[] => fleet.nodesOf(name, part);
  const tellable = [...nodesOf('early'), ...nodesOf('returning')];
  for (const node of tellable) cluster.goDark(node);
  await Promise.all([sleep(lateAheadMs), secondReplica()]);
  for (const node of nodesOf('late')) cluster.goDark(node);
  await tainted(tellable);
  const [leader, standby] = await pair();
  const returning = comeBackMeanwhile(nodesOf('returning'));
  await way(leader, standby);
  await returning;
  rest.push(recover([...nodesOf('early'), ...nodesOf('late')]));
}

async function comeBackMeanwhile(nodes: readonly string[]): Promise<void> {
  const before = handovers.length;
  await waitUntil('the leader stopped', soon, () => (handovers.length > before ? true : undefined));
  const startMs = Date.now();
  for (const [place, afterMs] of comeBackAfterMs.entries()) {
    await sleep(Math.max(0, startMs + afterMs - Date.now()));
    const now = nodes.filter((_, i) => i % comeBackAfterMs.length === place);
    await Promise.all(now.map((node) => fleet.cluster.comeBack(node)));
  }
}

async function tainted(names: readonly string[]): Promise<void> {
  await waitUntil('tainted', { ...soon, pollMs: 250 }, async () => {
    const taints = await Promise.all(names.map((name) => fleet.cluster.taints(name)));
    return taints.every((own) => own.includes('unreachable:NoExecute')) ? true : undefined;
  });
}

/** They come back when all their pods have been sent away. */
async function recover(nodes: readonly string[]): Promise<void> {
  await sleep(longestPatienceSeconds * 1_000);
  await waitUntil('every pod that is due is deleted', { timeoutMs: 60_000, pollMs: 1_000 }, async () =>
    (await fleet.keepingPods(nodes)).length === 0 ? true : undefined,
  );
  await Promise.all(nodes.map((node) => fleet.cluster.comeBack(node)));
}

async function nodes(): Promise<readonly NodeJson[]> {
  return (await plane.client().must<{ readonly items: readonly NodeJson[] }>('GET', '/api/v1/nodes')).items;
}

async function untilClean(): Promise<void> {
  const dark = new Set(fleet.dark());
  await waitUntil('all but the dark ones clean', { ...soon, pollMs: 500 }, async () => {
    const left = (await nodes()).filter(({ metadata, spec }) => !dark.has(metadata.name) && spec.taints !== undefined);
    return left.length === 0 ? true : undefined;
  });
}

/** What of the audit log the oracle needs, and no more: it is long enough. */
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
  const seen = { requests, handovers, replicas: new Set(users), pods, zoneOf, dark: new Set(fleet.dark()) };
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

/** Then the zone that is dark throughout falls silent. */
async function untilAllClean(): Promise<void> {
  await waitUntil('all clean', soon, async () =>
    (await nodes()).every(({ spec }) => spec.taints === undefined) ? true : undefined,
  );
  for (const node of fleet.dark()) fleet.cluster.goDark(node);
}

test('a leader is stopped in every way under load; another takes over', { timeout: 240_000 }, async () => {
  for (const [name, way] of Object.entries(ways)) await handOver(name, way);
  await Promise.all(rest);
  await untilClean();
  evidence = await gatherAll();
  console.log(`${tableOf(evidence)}\nlate arrivals: ${lateArrivals(evidence).join(', ')}`);
});

test('never two at once, nothing twice, nothing lost, no rate exceeded', () => {
  assert.deepEqual(judge(evidence), []);
});
