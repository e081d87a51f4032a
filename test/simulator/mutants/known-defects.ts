import type { Edit, Mutant } from './mutant.ts';

/** The resync would make up for a lost edge within a minute. */
export const withoutResync: Edit = {
  file: 'controller/node-lifecycle.ts',
  find: 'for (const name of resync.take(clock.monotonicMs())) this.#resync(name);',
  replace: 'resync.take(clock.monotonicMs());',
};
export const withoutSweep: Edit = {
  file: 'controller/node-lifecycle.ts',
  find: 'this.stages.alarm.wakeUp();\n      this.#continueSweep();',
  replace: 'this.stages.alarm.wakeUp();',
};

/** The probe of the leader would notice it too. */
const withoutRollbackNotice: Edit = {
  file: 'controller/observing-stages.ts',
  find: 'for (const informer of Object.values(informers)) informer.noticeRollback();',
  replace: '',
};

/** Defects that earlier versions of the controller had, as closely as the present code allows. */
export const knownDefects: readonly Mutant[] = [
  {
    name: 'suspect-loses-deadline',
    what: 'a node whose lease could not be read is evaluated again only by the resync; without that it stays Ready=True',
    file: 'controller/health/health-table.ts',
    find: 'this.#rechecks.add(name);\n    this.#deadlines.set(name, nowMs + recheckMs);',
    replace: 'this.#deadlines.remove(name);',
  },
  {
    name: 'not-found-ends-work',
    what: 'a 404 of a proxy ends the work: a due pod is never deleted',
    file: 'controller/writer/api-writer.ts',
    find: "if (presence === 'gone') return { result: 'gone' };",
    replace: "if (error.reason === 'not-found') return { result: 'gone' };",
    also: [withoutResync, withoutSweep],
  },
  {
    name: 'conflict-ends-pod-work',
    what: 'a 409 of a webhook to the deletion of a pod: the pod is never evicted',
    file: 'controller/writer/api-writer.ts',
    find: "if (presence === 'gone') return { result: 'gone' };",
    replace:
      "if ('pod' in command && doubtful) return { result: 'gone' };\n    if (presence === 'gone') return { result: 'gone' };",
    also: [withoutResync, withoutSweep],
  },
  {
    name: 'write-without-asking',
    what: 'writes go out after their reason is gone: a Ready node is tainted, pods of a recovered node are deleted',
    file: 'controller/writer/api-writer.ts',
    find: 'withdrawn = !stillWanted();',
    replace: 'withdrawn = false;',
  },
  {
    name: 'transport-retries-writes',
    what: 'a refused write is repeated inside its slot for minutes: other writes wait, and it is late when it succeeds',
    file: 'machinery/supervision/request-retry.ts',
    find: "if (method !== 'GET' || retries >= retriesMax",
    replace: 'if (retries >= retriesMax',
  },
  {
    name: 'rate-limit-on-wall-clock',
    what: 'after a backward step of the wall clock no request is sent for as long as the step; a forward step exceeds the rate',
    file: 'machinery/supervision/request-rate-limit.ts',
    find: 'constructor({ qps, burst, clock }: RateLimitOptions) {\n    this.#clock = clock;',
    replace:
      'constructor({ qps, burst, clock: real }: RateLimitOptions) {\n    const clock = { monotonicMs: () => real.nowMs(), sleep: (ms, signal) => real.sleep(ms, signal) };\n    this.#clock = clock;',
  },
  {
    name: 'deadline-survives-its-taint',
    what: 'a taint is removed, and pods are deleted at its deadline although another taint tolerates them for longer',
    file: 'controller/taint-eviction/decide-eviction.ts',
    find: 'isStillCaused(earlier, ends) && !isRestarted(earlier, taints) ? earlier : earliest;',
    replace: 'earlier;',
  },
  {
    name: 'swap-keeps-countdown',
    what: 'a node is not-ready for minutes and then unreachable: pods that tolerate that for a minute are deleted at once',
    file: 'controller/taint-eviction/taint-clock.ts',
    find: 'const earlier = before.get(taint.key);',
    replace:
      'const earlier = known?.find((other) => other.taint.key.slice(0, 19) === taint.key.slice(0, 19));\n      if (earlier !== undefined) return { ...earlier, taint };',
  },
  {
    name: 'binding-does-not-count',
    what: 'a pod that is bound to a tainted node is deleted at once although it tolerates the taint for a minute',
    file: 'controller/taint-eviction/decide-eviction.ts',
    find: 'sinceMs: Math.max(sinceMs, boundMs) }) ?? [];',
    replace: 'sinceMs }) ?? [];',
  },
  {
    name: 'restart-renews-path-failure-hold',
    what: 'after a change of the leader a path-failure hold begins again, or ends: the silences have other times',
    file: 'controller/outage/estimate-silences.ts',
    find: 'if (renewedAtMs === undefined || delayMs === Infinity) return',
    replace: 'if (atMs !== undefined) return',
  },
  {
    name: 'pods-without-own-answers',
    what: 'a pod is marked a second time before the watch delivers the first mark: two requests for one intent',
    file: 'controller/acting-stages.ts',
    find: 'get: (key) => answers.get(key),\n    byIndex:',
    replace: 'get: (key) => store.get(key),\n    byIndex:',
    also: [
      {
        file: 'controller/pod-readiness/pod-marking-queues.ts',
        find: 'return this.#options.clock.monotonicMs() - mark.atMs < lostMarkMs;',
        replace: 'return false;',
      },
      {
        file: 'controller/acting-stages.ts',
        find: 'return answers.size === 0 ? stored :',
        replace: 'return answers.size >= 0 ? stored :',
      },
    ],
  },
  {
    name: 'second-silence-never-marked',
    what: 'a node that renewed its lease while Unknown and is silent again: its pods stay Ready and keep their traffic',
    file: 'controller/health/health-table.ts',
    find: " === true && this.evaluate(node, now).kind !== 'silent';",
    replace: ' === true;',
  },
  {
    name: 'zones-wait-for-each-other',
    what: 'a taint write that hangs stops the NoExecute queues of all zones and the marking of pods for 10 s',
    file: 'controller/node-lifecycle.ts',
    find: 'const waitMs = Math.min(marker.serve(), noExecute.serve(), servingPeriodMsMax);',
    replace: 'const waitMs = Math.min(marker.serve(), servingPeriodMsMax);\n      await noExecute.pass();',
  },
  {
    name: 'denied-taint-without-backoff',
    what: 'a NoExecute taint that is denied is sent ten times a second for ever',
    file: 'controller/tainting/no-execute-tainter.ts',
    find: "else current?.retry(name, nowMs, outcome.result === 'failed' ? outcome.retryAfterMs : undefined);",
    replace: 'else current?.postpone(name, nowMs + 100);',
  },
  {
    name: 'one-lease-blocks-confirmation',
    what: 'one lease that cannot be read delays the detection of other silent nodes by the whole hold',
    file: 'controller/health/silence-confirmer.ts',
    find: 'if (single) for (const suspect of suspects) this.#track(this.#readOne(suspect));',
    replace: `if (single) this.#track((async () => {
      const reads = await Promise.all(suspects.map(({ node }) => this.#options.live.readOne(node)));
      const bad = reads.find(({ kind }) => kind === 'unreadable');
      for (const [index, suspect] of suspects.entries()) this.#answer(suspect, bad ?? reads[index]);
    })());`,
  },
  {
    name: 'recovery-waits-behind-detection',
    what: 'one write that hangs keeps every recovered node tainted until it has timed out',
    file: 'controller/node-work/decide-node-work.ts',
    find: "isHealthy || fullDisruption ? ['recovery'] : [];",
    replace: "isHealthy || fullDisruption ? ['detection'] : [];",
    also: [
      {
        file: 'controller/node-work/node-work-loops.ts',
        find: '{ recovery: 16, detection: 16, housekeeping: 4 }',
        replace: '{ recovery: 1, detection: 1, housekeeping: 4 }',
      },
    ],
  },
  {
    name: 'arriving-taint-counts-from-stamp',
    what: 'a taint that a user adds with an old timeAdded: pods are deleted at once although they tolerate it for a minute',
    file: 'controller/taint-eviction/taint-clock.ts',
    find: "const fromStamp = known === undefined && source === 'cache';",
    replace: 'const fromStamp = true;',
  },
  {
    name: 'renewed-again-counts-as-unready',
    what: 'a node that renews its lease again before Unknown was written counts as unready in its zone for a grace period',
    file: 'controller/node-lifecycle.ts',
    find: 'this.#observe(node);\n    if (!monitor.isSilent(name)) return;',
    replace: 'this.#observe(node);\n    if (monitor !== undefined) return;',
    also: [
      {
        file: 'controller/health/health-table.ts',
        find: 'this.#rechecks.has(name) ? undefined : this.#records.get(name);',
        replace: 'this.#records.get(name);',
      },
    ],
  },
  {
    name: 'deletes-from-renewing-node',
    what: 'only the watch of nodes is dead: pods are deleted from a node whose lease is renewed',
    file: 'controller/holds/decide-holds.ts',
    find: '(isLeaseRenewed ? {} : undefined)',
    replace: 'undefined',
  },
  {
    name: 'suspend-not-noticed',
    what: 'a machine that was suspended writes although another replica leads',
    file: 'machinery/election/lease-deadline.ts',
    find: 'if (monotonicMs + (offsetMs - this.#offsetMsMin) >= this.#untilMs)',
    replace: 'if (monotonicMs >= this.#untilMs)',
  },
  {
    name: 'rollback-not-noticed',
    what: 'after a restore of etcd the caches keep the state before it, for as long as nothing changes',
    file: 'manager/manager.ts',
    find: 'for (const informer of Object.values(this.informers)) informer.noticeRollback();',
    replace: '',
    also: [withoutRollbackNotice],
  },
  {
    name: 'failing-version-never-relists',
    what: 'a watch that fails at one version is opened at it for ever, and its cache stays old',
    file: 'machinery/informer/decide-next-step.ts',
    find: "if (failuresAtVersion >= failuresMax) return startOver(end, 'failing');",
    replace: '',
    also: [
      {
        file: 'machinery/informer/reflector.ts',
        find: "return isOlder(serverVersion, reachedBefore) && this.relist('rolled-back');",
        replace: 'return false;',
      },
      withoutRollbackNotice,
      {
        file: 'manager/manager.ts',
        find: 'for (const informer of Object.values(this.informers)) informer.noticeRollback();',
        replace: '',
      },
    ],
  },
  {
    name: 'one-failure-blocks-a-node',
    what: 'after one refused NoExecute taint the node is never tainted, and after four the zone',
    file: 'controller/tainting/no-execute-tainter.ts',
    find: 'this.#underway.delete(node.name);',
    replace: "if (outcome.result === 'written') this.#underway.delete(node.name);",
    also: [
      {
        file: 'controller/tainting/no-execute-tainter.ts',
        find: 'while (this.#underway.size > 0) await',
        replace: 'if (this.#underway.size > 0) await',
      },
    ],
  },
  {
    name: 'response-forgotten-too-early',
    what: 'the watch delivers the first of two writes, and the second one is sent again',
    file: 'machinery/informer/mutation-cache.ts',
    find: 'if (areComparable(resourceVersion, entry.view.resourceVersion))\n      return isOlder(resourceVersion, entry.view.resourceVersion);\n    return entry.superseded.has(resourceVersion) && this.#nowMs() - entry.atMs <= incomparableKeepMsMax;',
    replace: 'return resourceVersion === [...entry.superseded][0];',
  },
  {
    name: 'overtaken-read-counts-as-heartbeat',
    what: 'a live read that the watch overtook is taken for newer: a silent node is noticed late',
    file: 'machinery/informer/mutation-cache.ts',
    find: 'return version === wanted || (areComparable(version, wanted) && !isOlder(version, wanted));',
    replace: 'return version === wanted;',
    also: [
      {
        file: 'machinery/informer/mutation-cache.ts',
        find: 'if (areComparable(resourceVersion, entry.view.resourceVersion))\n      return isOlder(resourceVersion, entry.view.resourceVersion);\n    return entry.superseded.has(resourceVersion) && this.#nowMs() - entry.atMs <= incomparableKeepMsMax;',
        replace: 'return entry.superseded.has(resourceVersion);',
      },
    ],
  },
  {
    name: 'accepted-deletion-never-repeated',
    what: 'a pod whose accepted deletion a restore of etcd has undone stays on its tainted node for ever',
    file: 'controller/taint-eviction/accepted-deletions.ts',
    find: 'accepted.isSeen ||= pod.terminating;',
    replace: 'return true;',
  },
  {
    name: 'hold-kept-after-its-end',
    what: 'time in which a deletion was not held counts as held: the next hold of a pod ends too early',
    file: 'controller/taint-eviction/eviction-holds.ts',
    find: 'if (!goesOn) eviction.hold = this.#holdWhileReleased(eviction);',
    replace: '',
  },
  {
    name: 'later-path-failure-holds-again',
    what: 'a node that was held by an earlier path failure, and is still down, is held by the next one again',
    file: 'controller/outage/outage-watch.ts',
    find: 'return hold?.serial === serial ? hold?.untilMs : undefined;',
    replace: 'return hold?.untilMs;',
  },
  {
    name: 'missing-permission-counts-for-ever',
    what: 'after a time without the permission to read leases, one rejected read confirms a silence at once',
    file: 'controller/health/silence-confirmer.ts',
    find: 'if (this.#holds.size === 0) this.#forbiddenSinceMs = undefined;',
    replace: '',
    also: [
      {
        file: 'controller/health/silence-confirmer.ts',
        find: "this.#forbiddenSinceMs = undefined;\n    if (read.kind === 'missing')",
        replace: "if (read.kind === 'missing')",
      },
    ],
  },
  {
    name: 'fenced-before-its-heartbeat',
    what: 'a node that sent heartbeats after the evidence, and runs, has its pods deleted by force when it is unreachable',
    file: 'controller/out-of-service/assess-out-of-service.ts',
    find: "if (order !== 'newer') return { kind: order === 'unknown' ? 'unordered' : 'disproved', evidence, isEvicted };",
    replace: '',
  },
  {
    name: 'cut-list-written',
    what: 'a node with more taints than are used loses those beyond the limit with the next taint of the controller',
    file: 'controller/writer/api-writer.ts',
    find: "if (command.kind !== 'change-taints' || command.node.isTaintListCut !== true) return command;",
    replace: 'if (command.kind !== null) return command;',
  },
];
