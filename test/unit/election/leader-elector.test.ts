import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '../../../src/api/api-error.ts';
import type { ElectionOptions } from '../../../src/election/election-options.ts';
import { drainMsMax, LeaderElector, unhealthyAfterMs } from '../../../src/election/leader-elector.ts';
import type { Ending } from '../../../src/ports/leadership.ts';
import { LeaseLink, LeaseServer } from '../../support/lease-server.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { KeepingLogger, KeepingMeter, KeepingRecorder } from '../../support/quiet.ts';

class Contender {
  readonly link: LeaseLink;
  readonly meter = new KeepingMeter();
  readonly recorder = new KeepingRecorder();
  readonly logger = new KeepingLogger();
  readonly elector: LeaderElector;
  readonly stop = new AbortController();
  readonly log: string[] = [];
  outcome: unknown;
  /** What the leader does until it is told to stop, and how long it takes to. */
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

  start(): this {
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

test('refuses to be built on impossible options, and names all of them', () => {
  const { clock, server } = aWorld();
  assert.throws(
    () => new Contender('', server, clock, { renewDeadlineMs: 20_000 }),
    (error) => error instanceof RangeError && /identity/.test(error.message) && /20000/.test(error.message),
  );
});

test('the first contender creates the lease and leads at once', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  assert.equal(a.elector.holds(), false);
  assert.equal(a.status, 0);
  a.start();
  await settled();
  assert.equal(a.elector.holds(), true);
  assert.equal(a.elector.holder(), 'a');
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
  a.stop.abort();
  await settled();
});

test('a leader renews every retry period with one PUT and no GET', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(10_000);
  assert.deepEqual(a.link.calls, ['get', 'create', ...Array<string>(5).fill('replace')]);
  assert.equal(server.lease?.spec?.leaseTransitions, 0);
  assert.equal(server.lease?.spec?.renewTime, '2026-01-02T03:04:15.000000Z');
  assert.equal(server.lease?.spec?.acquireTime, '2026-01-02T03:04:05.000000Z');
  assert.equal(a.slowpaths, 0);
  a.stop.abort();
  await settled();
});

test('a renewal counts from the moment it was sent', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  a.link.answerMs = 3_000;
  a.start();
  await clock.advance(6_000); // get answered at 3 s, create sent at 3 s and answered at 6 s
  assert.equal(a.elector.holds(), true);
  a.link.cut = true;
  await clock.advance(6_999);
  assert.equal(a.elector.holds(), true);
  await clock.advance(1); // 13 s: the create was sent 10 s ago
  assert.equal(a.elector.holds(), false);
  assert.equal(a.outcome, 'lost');
});

test('a fresh process waits one whole lease duration before it takes a silent lease, whatever the clock on it says', async () => {
  const { clock, server } = aWorld();
  server.create({
    metadata: { name: 'nlc', namespace: 'kube-system' },
    spec: { holderIdentity: 'ghost', leaseDurationSeconds: 15, renewTime: '2001-01-01T00:00:00.000000Z' },
  });
  const b = new Contender('b', server, clock).start();
  await clock.advance(14_999);
  assert.equal(b.elector.holds(), false);
  assert.equal(b.elector.holder(), 'ghost');
  assert.equal(server.writes.length, 1);
  await clock.advance(800); // one jittered look: 2 s / 4 x (1 + 1.2 x 0.5)
  assert.equal(b.elector.holds(), true);
  assert.equal(server.lease?.spec?.leaseTransitions, 1);
  b.stop.abort();
  await settled();
});

test('on a signal the work ends first, then the lease is released, and the next takes over at its next look', async () => {
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
  assert.equal(a.outcome, 'stopped');
  assert.equal(a.elector.holds(), false);
  assert.equal(server.holder, '');
  assert.equal(server.lease?.spec?.leaseDurationSeconds, 1);
  assert.equal(a.status, 0);
  assert.equal(a.recorder.drafts.at(-1)?.message, 'a stopped leading');
  await clock.advance(800);
  assert.equal(b.elector.holds(), true);
  b.stop.abort();
  await settled();
});

test('a standby looks four times in a retry period, and once while the server does not answer', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  const b = new Contender('b', server, clock).start();
  await clock.advance(8_000);
  assert.deepEqual(b.link.calls, Array<string>(11).fill('get'));
  b.link.cut = true;
  await clock.advance(800);
  b.link.calls.length = 0;
  await clock.advance(16_000);
  assert.ok(b.link.calls.length <= 5, `${b.link.calls.length} reads in 16 s`);
  for (const contender of [a, b]) contender.stop.abort();
  await clock.advance(10_000);
});

test('work that does not end in time: no release, no claim', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  a.work = () => new Promise(() => {});
  a.start();
  await clock.advance(1_000);
  a.stop.abort();
  await clock.advance(drainMsMax - 1);
  assert.equal(a.outcome, undefined);
  await clock.advance(1);
  assert.equal(a.outcome, 'stopped');
  assert.equal(a.elector.holds(), false);
  assert.equal(server.holder, 'a');
});

test('a lost leadership is not released', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  const writesBefore = server.writes.length;
  a.link.cut = true;
  await clock.advance(8_999);
  assert.equal(a.elector.holds(), true);
  await clock.advance(1);
  assert.equal(a.elector.holds(), false);
  assert.equal(a.outcome, 'lost');
  assert.deepEqual(a.log, ['lead', 'done']);
  a.link.cut = false;
  await clock.advance(60_000);
  assert.equal(server.writes.length, writesBefore);
  assert.equal(server.holder, 'a');
  assert.equal(clock.sleeping, 0);
});

test('a transport that ignores its signal cannot hold up the deadline', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await settled();
  a.link.deaf = true;
  a.link.cut = true;
  await clock.advance(10_000);
  assert.equal(a.outcome, 'lost');
});

test('a leader whose time runs out over a reading does not write any more', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  a.link.refusals.push(new ApiError({ reason: 'unavailable', code: 503, message: 'not now' }));
  a.link.deaf = true;
  a.link.answerMs = 4_900;
  const writesBefore = server.writes.length;
  await clock.advance(1_500); // the renewal is refused at 2 s, the reading is under way
  const monotonicMs = clock.monotonicMs.bind(clock);
  clock.monotonicMs = () => monotonicMs() + 60_000;
  await clock.advance(4_900);
  assert.equal(a.outcome, 'lost');
  assert.equal(server.writes.length, writesBefore);
});

test('a process that was paused does not write when it wakes', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(500);
  // As a stopped process sees it: its timers fire late, all at once, and the clock has gone on.
  const writesBefore = server.writes.length;
  const monotonicMs = clock.monotonicMs.bind(clock);
  clock.monotonicMs = () => monotonicMs() + 60_000;
  assert.equal(a.elector.holds(), false);
  await clock.advance(2_000);
  assert.equal(a.outcome, 'lost');
  assert.equal(server.writes.length, writesBefore);
});

test('a conflict sends the renewal the long way, once', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  server.edit({ leaseDurationSeconds: 99 });
  await clock.advance(1_000);
  assert.deepEqual(a.link.calls.slice(2), ['replace', 'get', 'replace']);
  assert.equal(a.slowpaths, 1);
  assert.equal(a.elector.holds(), true);
  assert.equal(server.lease?.spec?.leaseDurationSeconds, 15);
  assert.equal(server.lease?.spec?.leaseTransitions, 0);
  a.stop.abort();
  await settled();
});

test('failures that pass within the deadline do not cost the leadership', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await settled();
  for (let call = 0; call < 6; call++)
    a.link.refusals.push(new ApiError({ reason: 'unavailable', code: 503, message: 'not now' }));
  await clock.advance(9_000);
  assert.equal(a.link.refusals.length, 0);
  assert.equal(a.elector.holds(), true);
  assert.equal(a.outcome, undefined);
  a.stop.abort();
  await settled();
});

test('another name in the lease ends the claim at once', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  server.edit({ holderIdentity: 'usurper' });
  await clock.advance(1_000);
  assert.equal(a.elector.holds(), false);
  assert.equal(a.outcome, 'lost');
  assert.equal(server.holder, 'usurper');
});

test('a lease deleted under its leader is made anew; others wait for it', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  const b = new Contender('b', server, clock).start();
  await clock.advance(5_000);
  server.delete();
  await clock.advance(20_000);
  assert.equal(server.holder, 'a');
  assert.equal(a.elector.holds(), true);
  assert.equal(b.elector.holds(), false);
  assert.ok(!b.link.calls.includes('create') && !b.link.calls.includes('replace'));
  a.stop.abort();
  b.stop.abort();
  await settled();
});

test('a lease deleted for good is made anew by another one lease duration later', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  const b = new Contender('b', server, clock).start();
  await clock.advance(5_000);
  a.link.cut = true;
  server.delete();
  await clock.advance(14_999);
  assert.equal(server.lease, undefined);
  await clock.advance(3_200 * 2);
  assert.equal(server.holder, 'b');
  assert.equal(a.outcome, 'lost');
  b.stop.abort();
  await settled();
});

test('two fresh contenders race for the first lease: one leads, the other sees it', async () => {
  const { clock, server } = aWorld();
  const both = ['a', 'b'].map((name) => {
    const contender = new Contender(name, server, clock);
    contender.link.requestMs = 10;
    return contender.start();
  });
  await clock.advance(4_000);
  assert.deepEqual(
    both.map((contender) => contender.elector.holds()),
    [true, false],
  );
  assert.deepEqual(
    both.map((contender) => contender.elector.holder()),
    ['a', 'a'],
  );
  for (const contender of both) contender.stop.abort();
  await clock.advance(1_000);
});

test('stopping while waiting ends at once and leaves the lease alone', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  const b = new Contender('b', server, clock).start();
  await clock.advance(3_000);
  b.stop.abort();
  await settled();
  assert.equal(b.outcome, 'stopped');
  assert.deepEqual(b.log, []);
  assert.equal(server.holder, 'a');
  a.stop.abort();
  await settled();
});

test('stopping while the claim is on its way gives back what may have arrived', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  a.link.answerMs = 1_000;
  a.start();
  await clock.advance(1_500); // the lease is created, but its answer is still under way
  assert.equal(server.holder, 'a');
  a.stop.abort();
  await clock.advance(5_000);
  assert.equal(a.outcome, 'stopped');
  assert.deepEqual(a.log, []);
  assert.equal(server.holder, '');
});

test('a release that meets a conflict reads again', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  a.link.requestMs = 100;
  a.stop.abort();
  await clock.advance(150); // the release has read the lease and is on its way to write it
  server.edit({ leaseTransitions: 9 });
  await clock.advance(1_000);
  assert.equal(a.outcome, 'stopped');
  assert.equal(server.holder, '');
  assert.equal(server.lease?.spec?.leaseTransitions, 9);
});

test('a release that cannot be done holds up nothing for long', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  a.link.cut = true;
  a.stop.abort();
  await clock.advance(5_000);
  assert.equal(a.outcome, 'stopped');
  assert.ok(a.logger.lines.some((line) => line.level === 'warn' && line.fields['reason'] === 'timeout'));
});

test('work that ends by itself gives the lease back', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  a.work = async () => {
    await clock.sleep(3_000, new AbortController().signal);
    return 'drained';
  };
  a.start();
  await clock.advance(3_000);
  assert.equal(a.outcome, 'stopped');
  assert.equal(server.holder, '');
});

test('work that fails lets the lease run out, since nobody knows what it left under way, and passes the failure on', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  const failure = new Error('broken invariant');
  a.work = () => Promise.reject(failure);
  a.start();
  await settled();
  assert.equal(a.outcome, failure);
  assert.equal(server.holder, 'a');
  assert.equal(a.elector.holds(), false);
});

test('works without a recorder, and can run again after it stopped', async () => {
  const { clock, server } = aWorld();
  const link = new LeaseLink(server, clock);
  const quiet = { random: { next: () => 0 }, logger: new KeepingLogger(), meter: new KeepingMeter() };
  const elector = new LeaderElector({ api: link, clock, ...quiet, identity: 'a', namespace: 'n', name: 'nlc' });
  for (let round = 0; round < 2; round++) {
    const stop = new AbortController();
    const run = elector.run(stop.signal, () => Promise.resolve<Ending>('drained'));
    await assert.rejects(
      elector.run(stop.signal, () => Promise.resolve<Ending>('drained')),
      /running already/,
    );
    assert.equal(await run, 'stopped');
  }
  assert.equal(server.lease?.spec?.leaseTransitions, 1);
});

test('work whose last writes were cut off lets the lease run out: they may still arrive', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  const drained = a.work;
  a.work = async (leading) => {
    await drained(leading);
    return 'cut-off';
  };
  a.start();
  await clock.advance(1_000);
  a.stop.abort();
  await clock.advance(1_000);
  assert.equal(a.outcome, 'stopped');
  assert.equal(server.holder, 'a');
  assert.equal(a.elector.holds(), false);
});

test('what must be said is said before the lease is given back, and after the work has ended', async () => {
  const { clock, server } = aWorld();
  const seen: string[] = [];
  const a: Contender = new Contender('a', server, clock, {
    lastWords: async () => {
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

test('asked to stop, and unable to renew meanwhile: stopped, and nothing is released', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  a.work = async (leading) => {
    await new Promise<void>((resolve) => leading.addEventListener('abort', () => resolve(), { once: true }));
    await clock.sleep(9_900, new AbortController().signal);
    return 'drained';
  };
  a.start();
  await clock.advance(1_000);
  a.link.cut = true;
  a.stop.abort();
  await clock.advance(9_900);
  assert.equal(a.outcome, 'stopped');
  assert.equal(server.holder, 'a');
});

test('every new name in the lease is told of once, the first look included, and nobody as nobody', async () => {
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
  assert.equal(b.elector.holder(), undefined, 'a released lease names nobody');
});

test('a leader that neither renews nor steps down is unhealthy 20 s after its lease ran out, and not before', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock);
  assert.equal(a.elector.problem(), undefined);
  a.start();
  await clock.advance(2_000);
  assert.equal(a.elector.problem(), undefined);
  clock.stall(15_000 + unhealthyAfterMs);
  assert.equal(a.elector.problem(), undefined);
  clock.stall(1);
  assert.match(a.elector.problem() ?? '', /not renewed for 35 s/);
  const b = new Contender('b', server, clock).start();
  await clock.advance(60_000);
  assert.equal(b.elector.holds(), true);
  assert.equal(b.elector.problem(), undefined);
  b.stop.abort();
  await clock.advance(1_000);
  clock.stall(100_000);
  assert.equal(b.elector.problem(), undefined, 'who gave the lease back is not late');
});

test("a standby is never unhealthy on account of somebody else's lease", async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  const b = new Contender('b', server, clock).start();
  await clock.advance(1_000);
  clock.stall(300_000);
  assert.equal(b.elector.problem(), undefined);
  a.stop.abort();
  b.stop.abort();
  await clock.advance(60_000);
});

test('a coordinator that prefers another gets its way within one renewal, and the lease runs out', async () => {
  const { clock, server } = aWorld();
  const a = new Contender('a', server, clock).start();
  await clock.advance(1_000);
  server.edit({ preferredHolder: 'b' });
  await clock.advance(1_000);
  assert.equal(a.elector.holds(), false);
  assert.equal(a.outcome, 'lost');
  assert.equal(server.holder, 'a');
  const c = new Contender('c', server, clock).start();
  await clock.advance(15_000 + 3_200);
  assert.equal(c.elector.holds(), true);
  await clock.advance(10_000);
  assert.equal(c.elector.holds(), true, 'an old preference is not held against who took over');
  c.stop.abort();
  await settled();
});
