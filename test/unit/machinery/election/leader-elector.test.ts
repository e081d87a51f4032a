import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ApiError } from '../../../../src/machinery/api/api-error.ts';
import type { Lease } from '../../../../src/machinery/api/lease.ts';
import { valueCharsMax } from '../../../../src/machinery/api/limits.ts';
import type { ElectionOptions } from '../../../../src/machinery/election/election-options.ts';
import { drainMsMax, LeaderElector, unhealthyAfterMs } from '../../../../src/machinery/election/leader-elector.ts';
import type { Ending } from '../../../../src/machinery/ports/leadership.ts';
import { ApiContact } from '../../../../src/machinery/supervision/api-contact.ts';
import { LeaseLink, LeaseServer } from '../../../support/lease-server.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';
import { RecordingLogger, RecordingMeter, RecordingRecorder } from '../../../support/fakes.ts';

class Contender {
  readonly link: LeaseLink;
  readonly meter = new RecordingMeter();
  readonly recorder = new RecordingRecorder();
  readonly logger = new RecordingLogger();
  readonly elector: LeaderElector;
  readonly stop = new AbortController();
  readonly log: string[] = [];
  outcome: unknown;
  /** The leader's work until its signal aborts, and how long it takes to end. */
  work = async (leading: AbortSignal): Promise<Ending> => {
    await new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve(), { once: true }));
    return 'drained';
  };

  constructor(identity: string, server: LeaseServer, clock: ManualClock, over: Partial<ElectionOptions> = {}) {
    this.link = new LeaseLink(server, clock);
    const { link, meter, recorder, logger } = this;
    const random = { next: () => 0.5 };
    const where = { namespace: 'kube-system', name: 'nlc', identity };
    this.elector = new LeaderElector({ api: link, clock, random, logger, meter, recorder, ...where, ...over });
  }

  /** Runs it, at the latest until the end of the test. */
  start(): this {
    after(() => this.stop.abort());
    const lead = async (leading: AbortSignal): Promise<Ending> => {
      this.log.push('lead');
      const ending = await this.work(leading);
      this.log.push('done');
      return ending;
    };
    this.elector.run(this.stop.signal, lead).then(
      (outcome) => {
        this.outcome = outcome;
      },
      (error: unknown) => {
        this.outcome = error;
      },
    );
    return this;
  }

  get status(): number | undefined {
    return this.meter.series.get('leader_election_master_status{name="nlc"}');
  }

  get slowpaths(): number {
    return this.meter.series.get('leader_election_slowpath_total{name="nlc"}') ?? 0;
  }
}

function aWorld(): { clock: ManualClock; server: LeaseServer } {
  const clock = new ManualClock();
  return { clock, server: new LeaseServer(clock) };
}

/** A contender that is alone and started so many milliseconds ago, with changes made before its start. */
async function aLeader(
  ms = 0,
  change: (contender: Contender, clock: ManualClock) => void = () => undefined,
): Promise<{ clock: ManualClock; server: LeaseServer; a: Contender }> {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  change(a, clock);
  a.start();
  await clock.advance(ms);
  return { clock, server, a };
}

/** Work that takes this long to end after its signal aborted. */
function slowToEnd(clock: ManualClock, ms: number): Contender['work'] {
  return async (leading) => {
    await new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve(), { once: true }));
    await clock.sleep(ms, new AbortController().signal);
    return 'drained';
  };
}

test('the constructor throws for invalid options and lists all of them', () => {
  const { clock, server } = aWorld();
  assert.throws(
    () => new Contender('', server, clock, { renewDeadlineMs: 20_000 }),
    (error) => error instanceof RangeError && /identity/.test(error.message) && /20000/.test(error.message),
  );
});

test('a renewal is an answer of the API server: while a leader renews, other answers end no backoff', async () => {
  const { clock, server } = aWorld();
  const contact = new ApiContact(clock);
  const leader = new Contender('a', server, clock, { contact }).start();
  await clock.advance(60_000);
  assert.equal(leader.elector.holds(), true);
  const sleep = contact.sleep(30_000, leader.stop.signal);
  contact.answered();
  await clock.advance(30_000);
  assert.equal(await sleep, false);
});

test('the first contender creates the lease and leads at once', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  assert.deepEqual([a.elector.holds(), a.status], [false, 0]);
  a.start();
  await settled();
  assert.deepEqual([a.elector.holds(), a.elector.holder()], [true, 'a']);
  assert.deepEqual(a.log, ['lead']);
  assert.deepEqual(a.link.calls, ['get', 'create']);
  assert.equal(a.status, 1);
  assert.deepEqual(a.recorder.drafts, [
    {
      about: {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        name: 'nlc',
        namespace: 'kube-system',
        uid: 'uid-0',
      },
      type: 'Normal',
      reason: 'LeaderElection',
      message: 'a became leader',
    },
  ]);
});

test('a leader renews every retry period with one PUT and no GET', async () => {
  const { server, a } = await aLeader(10_000);
  assert.deepEqual(a.link.calls, ['get', 'create', ...Array<string>(5).fill('replace')]);
  assert.equal(server.lease?.spec?.leaseTransitions, 0);
  assert.equal(server.lease?.spec?.renewTime, '2026-01-02T03:04:15.000000Z');
  assert.equal(server.lease?.spec?.acquireTime, '2026-01-02T03:04:05.000000Z');
  assert.equal(a.slowpaths, 0);
});

test('a renewal counts from the moment it was sent', async () => {
  const { clock, a } = await aLeader(6_000, ({ link }) => {
    link.answerMs = 3_000;
  }); // get answered at 3 s, create sent at 3 s and answered at 6 s
  assert.equal(a.elector.holds(), true);
  a.link.cut = true;
  await clock.advance(6_999);
  assert.equal(a.elector.holds(), true);
  await clock.advance(1); // 13 s: the create was sent 10 s ago
  assert.deepEqual([a.elector.holds(), a.outcome], [false, 'lost']);
});

test('a new process waits one whole lease duration before it takes a lease that is not renewed, regardless of its timestamps', async () => {
  const { clock, server } = aWorld();
  server.create({
    metadata: { name: 'nlc', namespace: 'kube-system' },
    spec: { holderIdentity: 'ghost', leaseDurationSeconds: 15, renewTime: '2001-01-01T00:00:00.000000Z' },
  });
  const b = new Contender('b', server, clock).start();
  await clock.advance(14_999);
  assert.deepEqual([b.elector.holds(), b.elector.holder()], [false, 'ghost']);
  assert.equal(server.writes.length, 1);
  await clock.advance(800); // one jittered look: 2 s / 4 x (1 + 1.2 x 0.5)
  assert.equal(b.elector.holds(), true);
  assert.equal(server.lease?.spec?.leaseTransitions, 1);
});

test('when the signal aborts the work ends, then the lease is released, and the standby takes over at its next poll', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  const heldAtEnd: boolean[] = [];
  a.work = async (leading) => {
    await new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve(), { once: true }));
    await clock.sleep(7_000, new AbortController().signal);
    heldAtEnd.push(a.elector.holds());
    a.log.push(`holder at the end: ${server.holder}`);
    return 'drained';
  };
  a.start();
  await clock.advance(5_000);
  const b = new Contender('b', server, clock).start();
  a.stop.abort();
  await clock.advance(6_999);
  assert.equal(server.holder, 'a');
  assert.equal(a.outcome, undefined);
  await clock.advance(1);
  assert.deepEqual(a.log, ['lead', 'holder at the end: a', 'done']);
  assert.deepEqual(heldAtEnd, [true]); // it was renewed while the work was ending
  assert.deepEqual([a.outcome, a.elector.holds(), server.holder], ['stopped', false, '']);
  assert.equal(server.lease?.spec?.leaseDurationSeconds, 1);
  assert.equal(a.status, 0);
  assert.equal(a.recorder.drafts.at(-1)?.message, 'a stopped leading');
  await clock.advance(800);
  assert.equal(b.elector.holds(), true);
});

test('a standby polls four times per retry period, and once while the server does not respond', async () => {
  const { clock, server } = await aLeader(1_000);
  const b = new Contender('b', server, clock).start();
  await clock.advance(8_000);
  assert.deepEqual(b.link.calls, Array<string>(11).fill('get'));
  b.link.cut = true;
  await clock.advance(800);
  b.link.calls.length = 0;
  await clock.advance(16_000);
  assert.ok(b.link.calls.length <= 5, `${b.link.calls.length} reads in 16 s`);
});

test('work that does not end in time: the lease is neither released nor renewed', async () => {
  const { clock, server, a } = await aLeader(1_000, (contender) => {
    contender.work = () => new Promise(() => {});
  });
  a.stop.abort();
  await clock.advance(drainMsMax - 1);
  assert.equal(a.outcome, undefined);
  await clock.advance(1);
  assert.deepEqual([a.outcome, a.elector.holds(), server.holder], ['stopped', false, 'a']);
});

test('a lost leadership is not released', async () => {
  const { clock, server, a } = await aLeader(1_000);
  const writesBefore = server.writes.length;
  a.link.cut = true;
  await clock.advance(8_999);
  assert.equal(a.elector.holds(), true);
  await clock.advance(1);
  assert.deepEqual([a.elector.holds(), a.outcome], [false, 'lost']);
  assert.deepEqual(a.log, ['lead', 'done']);
  a.link.cut = false;
  await clock.advance(60_000);
  assert.equal(server.writes.length, writesBefore);
  assert.equal(server.holder, 'a');
  assert.equal(clock.sleeping, 0);
});

test('a transport that ignores its signal cannot delay the deadline', async () => {
  const { clock, a } = await aLeader();
  a.link.ignoresSignal = true;
  a.link.cut = true;
  await clock.advance(10_000);
  assert.equal(a.outcome, 'lost');
});

test('a leader whose deadline passes during a read does not write afterwards', async () => {
  const { clock, server, a } = await aLeader(1_000);
  a.link.errors.push(new ApiError({ reason: 'unavailable', code: 503, message: 'not now' }));
  a.link.ignoresSignal = true;
  a.link.answerMs = 4_900;
  const writesBefore = server.writes.length;
  await clock.advance(1_500); // the renewal is refused at 2 s, the reading is under way
  const monotonicMs = clock.monotonicMs.bind(clock);
  clock.monotonicMs = () => monotonicMs() + 60_000;
  await clock.advance(4_900);
  assert.equal(a.outcome, 'lost');
  assert.equal(server.writes.length, writesBefore);
});

test('a process that was paused does not write when it resumes', async () => {
  const { clock, server, a } = await aLeader(500);
  // A stopped process: its timers fire late, all at once, and the clock has advanced.
  const writesBefore = server.writes.length;
  const monotonicMs = clock.monotonicMs.bind(clock);
  clock.monotonicMs = () => monotonicMs() + 60_000;
  assert.equal(a.elector.holds(), false);
  await clock.advance(2_000);
  assert.equal(a.outcome, 'lost');
  assert.equal(server.writes.length, writesBefore);
});

/** During a suspend CLOCK_MONOTONIC stops and the wall clock advances; a forward step of the wall clock looks the same. */
const suspendMs = 60_000;

test('after a suspend nothing is written before the lease is renewed, and a renewal allows writes again', async () => {
  const { clock, server, a } = await aLeader(2_500);
  clock.jumpWall(suspendMs);
  assert.equal(a.elector.holds(), false, 'at once, before any timer');
  await clock.advance(1_499);
  assert.equal(a.elector.holds(), false);
  await clock.advance(1);
  assert.equal(a.elector.holds(), true);
  assert.deepEqual(a.link.calls.slice(-2), ['get', 'replace'], 'the lease is read before it is renewed');
  await clock.advance(10_000);
  assert.deepEqual([a.outcome, a.log, a.status], [undefined, ['lead'], 1]);
  assert.equal(server.lease?.spec?.leaseTransitions, 0);
  assert.equal(a.logger.at('warn').length, 1);
});

test('a renewal sent before a suspend and answered after it does not count', async () => {
  const { clock, a } = await aLeader(1_000);
  a.link.answerMs = 100;
  await clock.advance(1_050);
  assert.equal(a.link.calls.at(-1), 'replace');
  clock.jumpWall(suspendMs);
  await clock.advance(50);
  assert.equal(a.elector.holds(), false);
  await clock.advance(2_200);
  assert.equal(a.elector.holds(), true);
});

test('a leader that cannot renew after a suspend stops leading when its deadline has passed', async () => {
  const { clock, server, a } = await aLeader(1_000);
  const writesBefore = server.writes.length;
  clock.jumpWall(suspendMs);
  a.link.cut = true;
  await clock.advance(8_999);
  assert.deepEqual([a.elector.holds(), a.outcome], [false, undefined]);
  await clock.advance(1);
  assert.deepEqual([a.elector.holds(), a.outcome], [false, 'lost']);
  assert.equal(server.writes.length, writesBefore);
});

for (const [what, happens] of [
  ['another replica holds', (server: LeaseServer) => server.edit({ holderIdentity: 'b', leaseTransitions: 1 })],
  ['another replica released', (server: LeaseServer) => server.edit({ holderIdentity: '', leaseTransitions: 1 })],
  ['was deleted', (server: LeaseServer) => server.delete()],
] as const)
  test(`a leader that observes after a suspend a lease that ${what}, stops leading and writes nothing`, async () => {
    const { clock, server, a } = await aLeader();
    await clock.advance(1_000);
    clock.jumpWall(suspendMs);
    happens(server);
    const writesBefore = server.writes.length;
    await clock.advance(60_000);
    assert.deepEqual([a.elector.holds(), a.outcome, a.log], [false, 'lost', ['lead', 'done']]);
    assert.equal(server.writes.length, writesBefore);
  });

test('a wall clock that steps back neither ends nor extends leadership', async () => {
  const { clock, a } = await aLeader(2_500);
  clock.jumpWall(-suspendMs);
  assert.equal(a.elector.holds(), true);
  await clock.advance(20_000);
  assert.deepEqual([a.elector.holds(), a.outcome], [true, undefined]);
  assert.deepEqual(a.link.calls.slice(2), Array<string>(11).fill('replace'));
  a.link.cut = true;
  await clock.advance(9_499);
  clock.jumpWall(-suspendMs);
  assert.equal(a.elector.holds(), true);
  await clock.advance(1);
  assert.deepEqual([a.elector.holds(), a.outcome], [false, 'lost']);
});

test('a suspend is detected although the wall clock was set back before it', async () => {
  const { clock, a } = await aLeader(2_500);
  clock.jumpWall(-suspendMs);
  assert.equal(a.elector.holds(), true);
  clock.jumpWall(suspendMs);
  assert.equal(a.elector.holds(), false);
});

test('a suspend that was noticed is not undone by a wall clock that is set back, but by a renewal', async () => {
  const { clock, a } = await aLeader(2_500);
  clock.jumpWall(suspendMs);
  assert.equal(a.elector.holds(), false);
  clock.jumpWall(-suspendMs);
  assert.equal(a.elector.holds(), false);
  await clock.advance(2_500);
  assert.deepEqual([a.elector.holds(), a.outcome], [true, undefined]);
});

test('stopped after a suspend and before a renewal: the lease is not released', async () => {
  const { clock, server, a } = await aLeader(2_500);
  clock.jumpWall(suspendMs);
  a.stop.abort();
  await settled();
  assert.deepEqual([a.outcome, server.holder], ['stopped', 'a']);
});

test('after a conflict the lease is read once and renewed again', async () => {
  const { clock, server, a } = await aLeader(1_000);
  server.edit({ leaseDurationSeconds: 99 });
  await clock.advance(1_000);
  assert.deepEqual(a.link.calls.slice(2), ['replace', 'get', 'replace']);
  assert.deepEqual([a.slowpaths, a.elector.holds()], [1, true]);
  assert.deepEqual([server.lease?.spec?.leaseDurationSeconds, server.lease?.spec?.leaseTransitions], [15, 0]);
});

test('failures that end before the deadline do not end leadership', async () => {
  const { clock, a } = await aLeader();
  for (let call = 0; call < 6; call++)
    a.link.errors.push(new ApiError({ reason: 'unavailable', code: 503, message: 'not now' }));
  await clock.advance(9_000);
  assert.equal(a.link.errors.length, 0);
  assert.deepEqual([a.elector.holds(), a.outcome], [true, undefined]);
});

test('another holder in the lease ends leadership at once', async () => {
  const { clock, server, a } = await aLeader(1_000);
  server.edit({ holderIdentity: 'other' });
  await clock.advance(1_000);
  assert.deepEqual([a.elector.holds(), a.outcome], [false, 'lost']);
  assert.equal(server.holder, 'other');
});

test('a lease deleted while held is created again by the leader; others wait', async () => {
  const { clock, server, a } = await aLeader(1_000);
  const b = new Contender('b', server, clock).start();
  await clock.advance(5_000);
  server.delete();
  await clock.advance(20_000);
  assert.equal(server.holder, 'a');
  assert.equal(a.elector.holds(), true);
  assert.equal(b.elector.holds(), false);
  assert.ok(!b.link.calls.includes('create') && !b.link.calls.includes('replace'));
});

test('a lease deleted without a leader is created by a standby one lease duration later', async () => {
  const { clock, server, a } = await aLeader();
  new Contender('b', server, clock).start();
  await clock.advance(5_000);
  a.link.cut = true;
  server.delete();
  await clock.advance(14_999);
  assert.equal(server.lease, undefined);
  await clock.advance(3_200 * 2);
  assert.equal(server.holder, 'b');
  assert.equal(a.outcome, 'lost');
});

test('two new contenders race for the first lease: one leads, the other observes it', async () => {
  const { clock, server } = aWorld();
  const both = ['a', 'b'].map((name) => {
    const contender = new Contender(name, server, clock);
    contender.link.requestMs = 10;
    return contender.start();
  });
  await clock.advance(4_000);
  const leading = both.map(({ elector }) => [elector.holds(), elector.holder()]);
  assert.deepEqual(leading, [
    [true, 'a'],
    [false, 'a'],
  ]);
});

test('stopping while waiting ends at once and does not write the lease', async () => {
  const { clock, server } = await aLeader();
  const b = new Contender('b', server, clock).start();
  await clock.advance(3_000);
  b.stop.abort();
  await settled();
  assert.equal(b.outcome, 'stopped');
  assert.deepEqual(b.log, []);
  assert.equal(server.holder, 'a');
});

test('stopping while an acquisition is in flight releases the lease if it was acquired', async () => {
  const { clock, server, a } = await aLeader(1_500, ({ link }) => {
    link.answerMs = 1_000;
  }); // the lease is created, but its answer is still under way
  assert.equal(server.holder, 'a');
  a.stop.abort();
  await clock.advance(5_000);
  assert.equal(a.outcome, 'stopped');
  assert.deepEqual(a.log, []);
  assert.equal(server.holder, '');
});

test('a release that meets a conflict reads again', async () => {
  const { clock, server, a } = await aLeader(1_000);
  a.link.requestMs = 100;
  a.stop.abort();
  await clock.advance(150); // the release has read the lease and is on its way to write it
  server.edit({ leaseTransitions: 9 });
  await clock.advance(1_000);
  assert.deepEqual([a.outcome, server.holder], ['stopped', '']);
  assert.equal(server.lease?.spec?.leaseTransitions, 9);
});

test('a release that fails is limited in time', async () => {
  const { clock, a } = await aLeader(1_000);
  a.link.cut = true;
  a.stop.abort();
  await clock.advance(5_000);
  assert.equal(a.outcome, 'stopped');
  assert.ok(a.logger.lines.some((line) => line.level === 'warn' && line.fields['reason'] === 'timeout'));
});

test('work that ends by itself releases the lease', async () => {
  const { server, a } = await aLeader(3_000, (contender, clock) => {
    contender.work = async () => {
      await clock.sleep(3_000, new AbortController().signal);
      return 'drained';
    };
  });
  assert.deepEqual([a.outcome, server.holder], ['stopped', '']);
});

test('work that fails lets the lease expire, since its writes may be in flight, and run rejects with its error', async () => {
  const failure = new Error('broken invariant');
  const { server, a } = await aLeader(0, (contender) => {
    contender.work = () => Promise.reject(failure);
  });
  assert.deepEqual([a.outcome, server.holder, a.elector.holds()], [failure, 'a', false]);
});

test('works without a recorder, and can run again after it stopped', async () => {
  const { clock, server } = aWorld();
  const link = new LeaseLink(server, clock);
  const quiet = { random: { next: () => 0 }, logger: new RecordingLogger(), meter: new RecordingMeter() };
  const elector = new LeaderElector({ api: link, clock, ...quiet, identity: 'a', namespace: 'n', name: 'nlc' });
  for (let round = 0; round < 2; round++) {
    const stop = new AbortController();
    const run = elector.run(stop.signal, () => Promise.resolve<Ending>('drained'));
    await assert.rejects(
      elector.run(stop.signal, () => Promise.resolve<Ending>('drained')),
      /already running/,
    );
    assert.equal(await run, 'stopped');
  }
  assert.equal(server.lease?.spec?.leaseTransitions, 1);
});

test('work that ended cut-off lets the lease expire: its writes may still arrive', async () => {
  const { clock, server, a } = await aLeader(1_000, (contender) => {
    const drained = contender.work;
    contender.work = (leading) => drained(leading).then(() => 'cut-off' as const);
  });
  a.stop.abort();
  await clock.advance(1_000);
  assert.deepEqual([a.outcome, server.holder, a.elector.holds()], ['stopped', 'a', false]);
});

test('beforeRelease runs after the work has ended and before the lease is released', async () => {
  const { clock, server } = aWorld();
  const seen: string[] = [];
  const a: Contender = new Contender('a', server, clock, {
    beforeRelease: async () => {
      await clock.sleep(1_500, new AbortController().signal);
      assert.equal(a.elector.holds(), true, "they are written in a leader's right");
      seen.push(`${a.log.at(-1)}, ${a.recorder.drafts.at(-1)?.message}, held by ${server.holder}`);
    },
  }).start();
  await clock.advance(1_000);
  a.stop.abort();
  await clock.advance(1_499);
  assert.equal(a.outcome, undefined);
  await clock.advance(1);
  assert.deepEqual(seen, ['done, a stopped leading, held by a']);
  assert.equal(server.holder, '');
});

test('stopped while renewals fail: the lease is not released', async () => {
  const { clock, server, a } = await aLeader(1_000, (contender, clock) => {
    contender.work = slowToEnd(clock, 9_900);
  });
  a.link.cut = true;
  a.stop.abort();
  await clock.advance(9_900);
  assert.deepEqual([a.outcome, server.holder], ['stopped', 'a']);
});

test('every change of the holder is reported once, the first observation included, and no holder as an empty identity', async () => {
  const { clock, server } = aWorld();
  const leaders: string[] = [];
  const onNewLeader = (leader: string): void => {
    leaders.push(leader);
    throw new Error('a listener that fails must not cost the election');
  };
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  const b = new Contender('b', server, clock, { onNewLeader }).start();
  await clock.advance(9_000);
  assert.deepEqual(leaders, ['a']);
  server.edit({ holderIdentity: '' });
  server.edit({ renewTime: '2026-01-02T03:05:00.000000Z' });
  await clock.advance(4_400);
  assert.deepEqual(leaders, ['a', '', 'b']);
  a.stop.abort();
  b.stop.abort();
  await clock.advance(1_000);
  assert.deepEqual(leaders, ['a', '', 'b', '']);
  assert.equal(b.elector.holder(), undefined, 'a released lease has no holder');
});

test('a holder of any length is shown cut, compared as a whole, and expires as any other', async () => {
  const { clock, server } = aWorld();
  const leaders: string[] = [];
  const long = 'x'.repeat(300_000);
  server.create({
    metadata: { name: 'nlc', namespace: 'kube-system' },
    spec: { holderIdentity: `${long}1`, leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' },
  });
  const b = new Contender('b', server, clock, { onNewLeader: (leader) => leaders.push(leader) }).start();
  await clock.advance(10_000);
  server.edit({ holderIdentity: `${long}2` });
  await clock.advance(10_000);
  assert.equal(b.elector.holds(), false, 'another identity is a change, from which the lease lasts again');
  assert.ok((b.elector.holder()?.length ?? 0) <= valueCharsMax + 1);
  assert.ok(leaders.length > 0 && leaders.every(({ length }) => length <= valueCharsMax + 1));
  assert.ok(JSON.stringify(b.logger).length < 50_000);
  await clock.advance(10_000);
  assert.equal(b.elector.holds(), true);
});

test('a leader that neither renews nor stops leading is unhealthy 20 s after its lease expired, and not before', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  assert.equal(a.elector.problem(), undefined);
  a.start();
  await clock.advance(2_000);
  assert.equal(a.elector.problem(), undefined);
  clock.stall(15_000 + unhealthyAfterMs);
  assert.equal(a.elector.problem(), undefined);
  clock.stall(1);
  assert.match(a.elector.problem() ?? '', /not renewed for 35s/);
  const b = new Contender('b', server, clock).start();
  await clock.advance(60_000);
  assert.deepEqual([b.elector.holds(), b.elector.problem()], [true, undefined]);
  b.stop.abort();
  await clock.advance(1_000);
  clock.stall(100_000);
  assert.equal(b.elector.problem(), undefined, 'a process that released the lease is healthy');
});

test("a standby is never unhealthy because of another process's lease", async () => {
  const { clock, server } = await aLeader(1_000);
  const b = new Contender('b', server, clock).start();
  await clock.advance(1_000);
  clock.stall(300_000);
  assert.equal(b.elector.problem(), undefined);
});

test('another preferredHolder ends leadership within one renewal, and the lease expires', async () => {
  const { clock, server, a } = await aLeader(1_000);
  server.edit({ preferredHolder: 'b' });
  await clock.advance(1_000);
  assert.deepEqual([a.elector.holds(), a.outcome], [false, 'lost']);
  assert.equal(server.holder, 'a');
  const c = new Contender('c', server, clock).start();
  await clock.advance(15_000 + 3_200);
  assert.equal(c.elector.holds(), true);
  await clock.advance(10_000);
  assert.equal(c.elector.holds(), true, 'the old preferredHolder is removed by the takeover');
});

test('a restore of etcd is reported by the leader, and by a standby that saw the lease at a later version', async () => {
  const clock = new ManualClock();
  const server = new LeaseServer(clock);
  const rollbacks: string[] = [];
  const contender = (name: string): Contender =>
    new Contender(name, server, clock, { onRollback: () => rollbacks.push(name) }).start();
  contender('leader');
  await clock.advance(5_000);
  contender('standby');
  await clock.advance(5_000);
  const backup = server.read();
  await clock.advance(20_000);
  assert.deepEqual(rollbacks, []);
  server.restore(backup);
  await clock.advance(3_000);
  assert.deepEqual(new Set(rollbacks), new Set(['leader', 'standby']));
  await clock.advance(20_000);
  assert.equal(rollbacks.length, 2);
});

/** Reports of a standby that does not see the lease for 20 s; `meanwhile` runs in the middle of that. */
async function reportsAfterGap(meanwhile: (server: LeaseServer, backup: Lease) => void): Promise<number> {
  const clock = new ManualClock();
  const server = new LeaseServer(clock);
  let rollbacks = 0;
  const standby = new Contender('standby', server, clock, { onRollback: () => (rollbacks += 1) });
  const leader = new Contender('leader', server, clock).start();
  await clock.advance(5_000);
  standby.start();
  await clock.advance(1_000);
  const backup = server.read();
  await clock.advance(4_000);
  standby.link.cut = true;
  await clock.advance(2_000);
  // The leader ends without having noticed a restore, and leaves no mark.
  leader.link.cut = true;
  meanwhile(server, backup);
  for (let renewals = 0; renewals < 9; renewals += 1) {
    await clock.advance(2_000);
    server.edit({ holderIdentity: 'next', renewTime: `renewed-${renewals}` });
  }
  standby.link.cut = false;
  await clock.advance(10_000);
  assert.deepEqual(
    standby.link.calls.filter((call) => call === 'list'),
    ['list'],
  );
  return rollbacks;
}

test('after a gap without the lease its history is compared: one read, and no report if it is the same', async () => {
  assert.equal(await reportsAfterGap(() => undefined), 0);
});

test('after a gap without the lease a restore is found although the storage has passed the old version', async () => {
  assert.equal(await reportsAfterGap((server, backup) => server.restore(backup)), 1);
});

test('after a gap without the lease a restore is assumed if the history was compacted', async () => {
  assert.equal(await reportsAfterGap((server) => (server.compacted = true)), 1);
});

test('a history that cannot be read is asked for repeatedly, and after a lease duration a restore is assumed', async () => {
  const clock = new ManualClock();
  const server = new LeaseServer(clock);
  let rollbacks = 0;
  const standby = new Contender('standby', server, clock, { onRollback: () => (rollbacks += 1) });
  standby.link.list = () => Promise.reject(new ApiError({ reason: 'unavailable', code: 503, message: 'busy' }));
  new Contender('leader', server, clock).start();
  await clock.advance(5_000);
  standby.start();
  await clock.advance(5_000);
  standby.link.cut = true;
  await clock.advance(20_000);
  standby.link.cut = false;
  await clock.advance(14_000);
  assert.equal(rollbacks, 0);
  await clock.advance(15_000);
  assert.equal(rollbacks, 1);
});

test('a standby that was suspended for a lease duration compares the history, although its monotonic clock stood still', async () => {
  const clock = new ManualClock();
  const server = new LeaseServer(clock);
  const standby = new Contender('standby', server, clock);
  const reads = (): number => standby.link.calls.filter((call) => call === 'list').length;
  new Contender('leader', server, clock).start();
  await clock.advance(5_000);
  standby.start();
  await clock.advance(5_000);
  clock.jumpWall(10_000);
  await clock.advance(5_000);
  assert.equal(reads(), 0);
  clock.jumpWall(20_000);
  server.edit({ renewTime: 'renewed meanwhile' });
  await clock.advance(5_000);
  assert.equal(reads(), 1);
});

test('while caches fill, the lease is read and not acquired, and after a suspend its history is compared', async () => {
  const { clock, server } = aWorld();
  let rollbacks = 0;
  const contender = new Contender('a', server, clock, { onRollback: () => (rollbacks += 1) });
  const leader = new Contender('leader', server, clock).start();
  await clock.advance(1_000);
  leader.stop.abort();
  await clock.advance(1_000);
  const observing = contender.elector.observe(contender.stop.signal);
  await clock.advance(30_000);
  assert.deepEqual([contender.elector.holds(), server.holder || 'none', rollbacks], [false, 'none', 0]);
  server.compacted = true;
  clock.jumpWall(20_000);
  server.edit({ renewTime: 'renewed meanwhile' });
  await clock.advance(5_000);
  assert.equal(rollbacks, 1);
  contender.stop.abort();
  await observing;
});

/** Reports of a process that reads a lease of a leader that ended `unrenewedMs` ago, and is suspended then. */
async function reportsAfterSuspend(unrenewedMs: number): Promise<number> {
  const { clock, server } = aWorld();
  let rollbacks = 0;
  const leader = new Contender('leader', server, clock).start();
  const contender = new Contender('a', server, clock, { onRollback: () => (rollbacks += 1) });
  const observing = contender.elector.observe(contender.stop.signal);
  await clock.advance(10_000);
  leader.link.cut = true;
  await clock.advance(unrenewedMs);
  clock.jumpWall(20_000);
  await clock.advance(5_000);
  contender.stop.abort();
  await observing;
  return rollbacks;
}

test('a lease that nothing renewed before a gap may be older than the backup, so a restore is assumed', async () => {
  assert.equal(await reportsAfterSuspend(8_000), 1);
  assert.equal(await reportsAfterSuspend(1_000), 0);
});

test('a lease that a process has seen only at one version proves nothing after a gap', async () => {
  const { clock, server } = aWorld();
  let rollbacks = 0;
  const leader = new Contender('leader', server, clock).start();
  await clock.advance(10_000);
  leader.link.cut = true;
  const late = new Contender('b', server, clock, { onRollback: () => (rollbacks += 1) });
  const observing = late.elector.observe(late.stop.signal);
  await clock.advance(1_000);
  clock.jumpWall(20_000);
  await clock.advance(5_000);
  assert.equal(rollbacks, 1);
  late.stop.abort();
  await observing;
});

/** Reports of a process that is answered other requests from the beginning, and reads the lease for the first time `unreadMs` later. */
async function reportsAfterUnreadable(unreadMs: number): Promise<number> {
  const { clock, server } = aWorld();
  let rollbacks = 0;
  new Contender('leader', server, clock).start();
  await clock.advance(1_000);
  const contact = new ApiContact(clock);
  const late = new Contender('b', server, clock, { contact, onRollback: () => (rollbacks += 1) });
  late.link.cut = true;
  contact.answered();
  const observing = late.elector.observe(late.stop.signal);
  await clock.advance(unreadMs);
  assert.equal(rollbacks, 0);
  late.link.cut = false;
  await clock.advance(30_000);
  late.stop.abort();
  await observing;
  return rollbacks;
}

test('a process whose caches filled long before it could read the lease assumes a restore, once', async () => {
  assert.equal(await reportsAfterUnreadable(20_000), 1);
  assert.equal(await reportsAfterUnreadable(10_000), 0);
});

test('a process that finds no lease while its caches fill, and then creates it, assumes nothing', async () => {
  const { clock, server } = aWorld();
  let rollbacks = 0;
  const contact = new ApiContact(clock);
  contact.answered();
  const first = new Contender('a', server, clock, { contact, onRollback: () => (rollbacks += 1) });
  const filling = new AbortController();
  const observing = first.elector.observe(filling.signal);
  await clock.advance(60_000);
  filling.abort();
  await observing;
  first.start();
  await clock.advance(10_000);
  assert.deepEqual([server.holder, rollbacks], ['a', 0]);
});

test('a process that could not read the lease for long and then finds none assumes a restore, once', async () => {
  const { clock, server } = aWorld();
  let rollbacks = 0;
  const contact = new ApiContact(clock);
  const alone = new Contender('a', server, clock, { contact, onRollback: () => (rollbacks += 1) });
  alone.link.cut = true;
  contact.answered();
  alone.start();
  await clock.advance(60_000);
  assert.equal(rollbacks, 0);
  alone.link.cut = false;
  await clock.advance(60_000);
  assert.deepEqual([server.holder, rollbacks], ['a', 1]);
});

/** Who reports, where a process reads the lease for the first time 10 s after its first answer, and etcd was restored so long after that. */
async function reportsOfFirstLease(restoredMs: number): Promise<readonly string[]> {
  const { clock, server } = aWorld();
  const reports: string[] = [];
  new Contender('leader', server, clock, { onRollback: () => reports.push('leader') }).start();
  await clock.advance(20_000);
  const backup = server.read();
  const contact = new ApiContact(clock);
  const late = new Contender('late', server, clock, { contact, onRollback: () => reports.push('late') });
  late.link.cut = true;
  await clock.advance(10_000);
  const observing = late.elector.observe(late.stop.signal);
  if (restoredMs < 0) server.restore(backup);
  await clock.advance(Math.max(0, -restoredMs));
  contact.answered();
  await clock.advance(Math.max(0, restoredMs));
  if (restoredMs >= 0) server.restore(backup);
  await clock.advance(10_000 - Math.max(0, restoredMs));
  late.link.cut = false;
  await clock.advance(60_000);
  late.stop.abort();
  await observing;
  return reports;
}

test('a mark in the first lease counts if it is younger than the first answer to this process', async () => {
  assert.deepEqual(await reportsOfFirstLease(1_000), ['leader', 'late']);
  assert.deepEqual(await reportsOfFirstLease(-20_000), ['leader']);
});

test('a restore soon after one was only assumed is found, and marked', async () => {
  const { clock, server } = aWorld();
  const old = new Contender('old', server, clock).start();
  await clock.advance(5_000);
  old.stop.abort();
  await clock.advance(20_000);
  let rollbacks = 0;
  const contact = new ApiContact(clock);
  const late = new Contender('late', server, clock, { contact, onRollback: () => (rollbacks += 1) });
  late.link.cut = true;
  contact.answered();
  late.start();
  await clock.advance(20_000);
  late.link.cut = false;
  for (let seconds = 0; server.holder !== 'late' && seconds < 10; seconds += 1) await clock.advance(1_000);
  assert.deepEqual([server.holder, rollbacks], ['late', 1]);
  const backup = server.read();
  await clock.advance(3_000);
  server.restore(backup);
  await clock.advance(3_000);
  assert.equal(rollbacks, 2);
  assert.notEqual(server.lease?.metadata.annotations?.['nodelifecycle/storage-restored-at'], undefined);
});

test('a process that was not answered at all before it read the lease has nothing from before a restore', async () => {
  const { clock, server } = aWorld();
  let rollbacks = 0;
  const late = new Contender('b', server, clock, { onRollback: () => (rollbacks += 1) });
  late.link.cut = true;
  const observing = late.elector.observe(late.stop.signal);
  await clock.advance(60_000);
  late.link.cut = false;
  new Contender('leader', server, clock).start();
  await clock.advance(10_000);
  assert.equal(rollbacks, 0);
  late.stop.abort();
  await observing;
});

test('a standby that was cut off during a restore learns of it from the mark of the leader, once', async () => {
  const clock = new ManualClock();
  const server = new LeaseServer(clock);
  const rollbacks: string[] = [];
  const contender = (name: string): Contender =>
    new Contender(name, server, clock, { onRollback: () => rollbacks.push(name) }).start();
  contender('leader');
  await clock.advance(5_000);
  const standby = contender('standby');
  await clock.advance(2_000);
  const backup = server.read();
  await clock.advance(6_000);
  standby.link.cut = true;
  await clock.advance(1_000);
  server.restore(backup);
  await clock.advance(20_000);
  assert.deepEqual(rollbacks, ['leader']);
  standby.link.cut = false;
  await clock.advance(60_000);
  assert.deepEqual(rollbacks, ['leader', 'standby']);
  contender('later');
  await clock.advance(60_000);
  assert.equal(rollbacks.length, 2, 'a process that starts lists everything anyway');
});

test('the mark of a restore stays in the lease when another replica takes it over', async () => {
  const clock = new ManualClock();
  const server = new LeaseServer(clock);
  const leader = new Contender('leader', server, clock).start();
  await clock.advance(5_000);
  const backup = server.read();
  await clock.advance(6_000);
  server.restore(backup);
  await clock.advance(6_000);
  const markOf = (): string | undefined => server.lease?.metadata.annotations?.['nodelifecycle/storage-restored-at'];
  const mark = markOf();
  assert.ok(mark);
  leader.link.cut = true;
  new Contender('next', server, clock).start();
  await clock.advance(60_000);
  assert.deepEqual([server.holder, markOf()], ['next', mark]);
});

test('a proxy that answers with an old lease every other time causes no more than one report in ten seconds', async () => {
  const clock = new ManualClock();
  const server = new LeaseServer(clock);
  let rollbacks = 0;
  new Contender('leader', server, clock).start();
  await clock.advance(5_000);
  const old = server.read();
  await clock.advance(10_000);
  const standby = new Contender('standby', server, clock, { onRollback: () => (rollbacks += 1) });
  let reads = 0;
  const get = standby.link.get.bind(standby.link);
  standby.link.get = async (...request: Parameters<typeof get>) => {
    const current = await get(...request);
    return (reads += 1) % 2 === 0 ? old : current;
  };
  standby.start();
  await clock.advance(60_000);
  assert.ok(reads > 40, `${reads} reads`);
  assert.ok(rollbacks >= 1 && rollbacks <= 7, `${rollbacks} reports`);
});
