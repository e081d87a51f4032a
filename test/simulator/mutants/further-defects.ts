import { withoutResync, withoutSweep } from './known-defects.ts';
import type { Mutant } from './mutant.ts';

/** One or more for each part of the controller. */
export const furtherDefects: readonly Mutant[] = [
  {
    name: 'forgotten-node',
    what: 'a node whose lease could not be read once stays Ready=True for ever',
    file: 'controller/health/health-table.ts',
    find: 'this.#rechecks.add(name);\n    this.#deadlines.set(name, nowMs + recheckMs);',
    replace: 'this.#deadlines.remove(name);',
    also: [withoutResync],
  },
  // election
  {
    name: 'deadline-from-answer',
    what: 'a leader with slow answers keeps writing longer than the renew deadline after its renewal was sent',
    file: 'machinery/election/lease-contender.ts',
    find: 'this.#deadline.renewed(sentAt);',
    replace: 'this.#deadline.renewed(instantOf(clock));',
  },
  {
    name: 'lease-taken-too-early',
    what: 'a standby takes the lease while the leader may still write',
    file: 'machinery/election/decide-lease.ts',
    find: 'return nowMs < expiresAtMs(observed, leaseDurationMs);',
    replace: 'return nowMs < expiresAtMs(observed, leaseDurationMs) - leaseDurationMs / 2;',
  },
  {
    name: 'leadership-without-deadline',
    what: 'a process that was paused writes after another replica has taken over',
    file: 'machinery/election/lease-contender.ts',
    find: 'return this.#deadline.holds();',
    replace: 'return this.holder === this.#settings.identity;',
  },
  // informer
  {
    name: 'deletion-missed-by-relist',
    what: 'a node that was deleted while the watch was down is never removed',
    file: 'machinery/informer/diff-stores.ts',
    find: "if (left?.has(name) !== true) yield { kind: 'deleted', key: objectKey(namespace, name), object };",
    replace: '',
  },
  {
    name: 'old-event-applied',
    what: 'a repeated event rolls an object in the cache back until its next change',
    file: 'machinery/informer/diff-stores.ts',
    find: 'if (received.uid === stored.uid && received.resourceVersion === stored.resourceVersion) return true;\n  return isOlder(received.resourceVersion, stored.resourceVersion);',
    replace: 'return false;',
  },
  {
    name: 'expired-version-watched-again',
    what: 'after a 410 the watch is opened at the same version for ever, and its cache stays old',
    file: 'machinery/informer/decide-next-step.ts',
    find: "return isExpired(reason) ? 'expired' : 'refused';",
    replace: "return isExpired(reason) ? undefined : 'refused';",
  },
  {
    name: 'cached-answer-never-replaced',
    what: 'a node or pod that was written once never changes for the controller again',
    file: 'machinery/informer/mutation-cache.ts',
    find: 'if (this.#isNewer(entry, fromStore)) return entry.view;',
    replace: 'if (entry !== undefined) return entry.view;',
  },
  // tainting
  {
    name: 'unreachable-taint-stays',
    what: 'the unreachable:NoExecute taint of a recovered node is never removed',
    file: 'controller/tainting/decide-taints.ts',
    find: "return carried.length === 0 ? { need: 'settled' } : { need: 'none', remove: carried };",
    replace:
      "return carried.length === 0 ? { need: 'settled' } : { need: 'none', remove: carried.filter(({ key }) => key === taintKeys.notReady) };",
  },
  {
    name: 'wrong-health-taint',
    what: 'a silent node is tainted not-ready instead of unreachable',
    file: 'controller/tainting/decide-taints.ts',
    find: "return ready === 'Unknown' ? taintKeys.unreachable : undefined;",
    replace: "return ready === 'Unknown' ? taintKeys.notReady : undefined;",
  },
  {
    name: 'both-health-taints',
    what: 'a node that goes from not ready to unreachable has both NoExecute taints',
    file: 'controller/tainting/decide-taints.ts',
    find: "add: own ?? { key, effect: 'NoExecute' }, remove: others };",
    replace: "add: own ?? { key, effect: 'NoExecute' }, remove: [] };",
  },
  {
    name: 'taint-without-token',
    what: 'nodes get their NoExecute taints all at once, whatever --node-eviction-rate says',
    file: 'controller/tainting/no-execute-tainter.ts',
    find: 'else if (this.#isBusy(zone) || !queue.tryTakeToken(nowMs)) return;',
    replace: 'else if (this.#isBusy(zone)) return;',
  },
  {
    name: 'token-lost-at-rate-change',
    what: 'a changed rate fills the bucket: two taints where one is allowed',
    file: 'machinery/queueing/token-bucket.ts',
    find: 'this.#tokens = couldGrant && ratePerSecond > 0 ? Math.min(this.#burst, this.#leftByOthers(nowMs)) : 0;',
    replace: 'this.#tokens = this.#burst;',
  },
  // zones
  {
    name: 'zone-never-recounted',
    what: 'a zone keeps its first count: pods are evicted while no node is ready',
    file: 'controller/zones/zone-table.ts',
    find: 'if (known?.zone === zone && known.standing === standing) return;',
    replace: 'if (known?.zone === zone) return;',
  },
  {
    name: 'small-zone-stops-too-early',
    what: 'two unready nodes of three stop the evictions of a zone: their pods are not replaced',
    file: 'controller/zones/plan-rates.ts',
    find: 'const tooFewToEvaluate = 2;',
    replace: 'const tooFewToEvaluate = 0;',
  },
  {
    name: 'evicts-in-full-disruption',
    what: 'a controller that is cut off from all nodes evicts their pods',
    file: 'controller/zones/plan-rates.ts',
    find: "const fullDisruption = counted.length > 0 && counted.every(({ condition }) => condition === 'fully-disrupted');",
    replace: 'const fullDisruption = counted.length > 1_000;',
  },
  // eviction
  {
    name: 'toleration-of-another-key',
    what: 'the first toleration with the effect decides, whatever its key: a pod stays for ever, or leaves too early',
    file: 'machinery/api/tolerations.ts',
    find: 'return (taint) => tolerations.find((candidate) => tolerates(candidate, taint));',
    replace: 'return (taint) => tolerations.find((candidate) => candidate.effect === taint.effect);',
  },
  {
    name: 'tolerated-for-half-the-time',
    what: 'a pod that tolerates a taint for 60 s is deleted after 30 s',
    file: 'controller/taint-eviction/decide-eviction.ts',
    find: 'atMs: sinceMs + toleratedSeconds * 1_000',
    replace: 'atMs: sinceMs + toleratedSeconds * 500',
  },
  {
    name: 'eviction-not-cancelled',
    what: 'the taint is removed and the pod is deleted all the same',
    file: 'controller/taint-eviction/taint-evictor.ts',
    find: 'if (taints.length === 0 && known === undefined) return;',
    replace: 'if (taints.length === 0) return;',
  },
  {
    name: 'delete-without-uid',
    what: 'a late DELETE removes the pod that was created under the same name meanwhile',
    file: 'controller/writer/api-writer.ts',
    find: '{ ...given, ...write };',
    replace: '{ ...given, uid: undefined, ...write };',
  },
  // writer
  {
    name: 'patch-without-version',
    what: 'a taint write reverts the taint that a user added at the same moment',
    file: 'controller/writer/plan-request.ts',
    find: 'return { uid, resourceVersion };',
    replace: 'return { uid };',
  },
  {
    name: 'label-written-again-and-again',
    what: 'the label of a healthy node is written at every evaluation',
    file: 'controller/labels/diff-labels.ts',
    find: 'return value === undefined || ownValue(labels, to) === value ? [] : [[to, value] as const];',
    replace: 'return value === undefined ? [] : [[to, value] as const];',
  },
  // pods of silent nodes
  {
    name: 'failed-mark-forgotten',
    what: 'a pod whose mark was refused once stays Ready on a dead node',
    file: 'controller/pod-readiness/pod-marker.ts',
    find: "if (outcome.result === 'failed') return retryLater(outcome);",
    replace: "if (outcome.result === 'failed') return this.#done(key);",
    also: [withoutResync, withoutSweep],
  },
  {
    name: 'marked-again-and-again',
    what: 'a pod that is NotReady already is marked at every evaluation of its node',
    file: 'controller/pod-readiness/pod-marker.ts',
    find: "pod.ready === undefined || pod.ready === 'False') return false;",
    replace: 'pod.ready === undefined) return false;',
  },
  {
    name: 'pods-never-marked',
    what: 'the pods of a dead node stay endpoints of their Services',
    file: 'controller/pod-readiness/pod-marking-queues.ts',
    find: 'takeSlot(node);',
    replace: '',
    also: [withoutResync, withoutSweep],
  },
  // pod-gc
  {
    name: 'orphans-never-collected',
    what: 'the pods of a deleted node stay for ever',
    file: 'controller/pod-gc/orphan-quarantine.ts',
    find: '(this.#dueAt.dueMs(name) ?? Infinity) <= nowMs);',
    replace: '(this.#dueAt.dueMs(name) ?? Infinity) <= 0);',
  },
  {
    name: 'orphans-without-live-read',
    what: 'the pods of a node that is missing in the cache only are deleted',
    file: 'controller/pod-gc/pod-garbage-collector.ts',
    find: "if (live !== 'gone') this.#keepOrphans(node, live);\n    else if (await",
    replace: 'if (await',
    also: [
      {
        file: 'controller/pod-gc/pod-garbage-collector.ts',
        find: "return live !== 'unreadable' && fallsUnder(why, pod, () => (live === 'gone' ? undefined : live));",
        replace: 'return true;',
      },
    ],
  },
  // freshness and confirmation
  {
    name: 'silence-not-confirmed',
    what: 'with a lease watch that is behind, healthy nodes become Unknown',
    file: 'controller/health/health-table.ts',
    find: "return { ...assessment, kind: 'suspect' };",
    replace: 'return assessment;',
  },
  {
    name: 'health-clock-never-stops',
    what: 'the time in which no heartbeat could arrive counts against the nodes, and they become Unknown without a read',
    file: 'controller/freshness/fresh-clock.ts',
    find: 'const untilMs = Math.min(nowMs, this.#contactAtMs + this.#limits.contactMsMax);\n    return Math.max(0, untilMs - fromMs);',
    replace: 'return Math.max(0, nowMs - fromMs);',
    also: [
      {
        file: 'controller/health/health-table.ts',
        find: "return { ...assessment, kind: 'suspect' };",
        replace: 'return assessment;',
      },
    ],
  },
  // outage holds
  {
    name: 'path-failure-not-held',
    what: 'most nodes of several zones are unreachable at once, and they are tainted at once',
    file: 'controller/node-holds.ts',
    find: 'const untilMs = outage.heldUntilMs(this.#node);',
    replace: 'const untilMs = undefined as number | undefined;',
  },
  {
    name: 'path-failure-hold-never-ends',
    what: 'nodes that stay unreachable after a path failure are never marked nor tainted',
    file: 'controller/outage/outage-watch.ts',
    find: 'holdMsMax: (why) => this.#holdMsMax(why),',
    replace: 'holdMsMax: (why) => (this.#holdMsMax(why) > 0 ? Infinity : 0),',
  },
  // queueing
  {
    name: 'heap-does-not-sink',
    what: 'deadlines are taken in a wrong order: a silent node is noticed late',
    file: 'machinery/queueing/keyed-heap.ts',
    find: 'this.#rise(index);\n      this.#sink(index);',
    replace: 'this.#rise(index);',
  },
  {
    name: 'addition-meanwhile-lost',
    what: 'a change of a node during its reconciliation is not acted upon',
    file: 'machinery/queueing/work-queue.ts',
    find: 'if (this.#inProcess.has(key)) return this.#addMeanwhile(key, dueMs);',
    replace: 'if (this.#inProcess.has(key)) return false;',
  },
  {
    name: 'work-loop-not-woken',
    what: 'work that is added to an idle loop waits for up to a minute',
    file: 'machinery/supervision/work-loop.ts',
    find: 'if (isNew) this.#measure.added();\n    this.#alarm.wakeUp();',
    replace: 'if (isNew) this.#measure.added();',
  },
  // live settings
  {
    name: 'grace-period-read-once',
    what: 'a changed --node-monitor-grace-period has no effect until a restart',
    file: 'controller/health/health-table.ts',
    find: 'this.#graces = graces;',
    replace:
      'const first = new Map();\n    this.#graces = { current: (node) => first.get(node) ?? first.set(node, graces.current(node)).get(node) };',
  },
  {
    name: 'eviction-rate-read-once',
    what: 'a changed --node-eviction-rate has no effect until a restart',
    file: 'controller/zones/zone-table.ts',
    find: 'this.#optionsOf = optionsOf;',
    replace:
      'const first = new Map();\n    this.#optionsOf = (zone) => first.get(zone) ?? first.set(zone, optionsOf(zone)).get(zone);',
  },
  // what is remembered, and what is sent for nothing
  {
    name: 'removed-node-remembered',
    what: 'memory grows with every node that is deleted after it was silent',
    file: 'controller/health/health-table.ts',
    find: 'this.#records.delete(name);\n    this.#confirmed.delete(name);',
    replace: 'this.#records.delete(name);',
  },
  {
    name: 'removed-zone-remembered',
    what: 'memory grows with every zone that vanishes',
    file: 'controller/monitor-pass.ts',
    find: 'for (const zone of evaluation.vanished) this.#forgetZone(zone);',
    replace: '',
  },
  {
    name: 'failures-remembered',
    what: 'memory grows with every pod whose mark or deletion failed once',
    file: 'machinery/queueing/work-queue.ts',
    find: "case 'forget':\n        this.#forgetFailures(key);",
    replace: "case 'forget':",
    also: [
      {
        file: 'machinery/queueing/work-queue.ts',
        find: 'this.#forgetFailures(key);\n    return this.#addedMeanwhile',
        replace: 'return this.#addedMeanwhile',
      },
    ],
  },
  {
    name: 'silent-nodes-read-again-and-again',
    what: 'while a node is down its lease is read several times a second, for ever',
    file: 'controller/monitor-pass.ts',
    find: "if (assessment.kind === 'suspect')\n",
    replace: "if (assessment.kind !== 'alive')\n",
  },
  {
    name: 'backoff-without-limit',
    what: 'a node whose writes failed for minutes waits as long again for its next attempt',
    file: 'controller/node-work/node-work-loops.ts',
    find: 'new WorkQueue()',
    replace: 'new WorkQueue({ delayMsMin: 100, delayMsMax: 3_600_000 })',
  },
  // Events
  {
    name: 'event-repeated',
    what: 'kubectl describe node shows NodeNotReady several times for one silence',
    file: 'controller/node-reconciler.ts',
    find: 'this.#options.marker.evaluateNode(name);\n    return forget;',
    replace:
      'this.#options.marker.evaluateNode(name);\n    this.#options.recorder.record(nodeNotReady(node));\n    return forget;',
  },
  // policies
  {
    name: 'policy-not-asked',
    what: 'the nodes of a policy with mode Observe or Paused are marked, tainted and evicted',
    file: 'controller/holds/holding-writer.ts',
    find: 'const hold = this.#ask(write);',
    replace: 'const hold = undefined as Hold | undefined;',
    also: [
      {
        file: 'controller/holds/holding-writer.ts',
        find: 'stillWanted() && this.#ask(write) === undefined',
        replace: 'stillWanted()',
      },
    ],
  },
  {
    name: 'breaker-not-asked',
    what: 'nodes are tainted and pods evicted although more nodes of the policy are unhealthy than its limits allow',
    file: 'controller/node-holds.ts',
    find: 'return this.#stages.policies.openBreakerOf(this.#node);',
    replace: 'return undefined;',
  },
  {
    name: 'flapping-without-end',
    what: 'a node that flapped gets no new pods until a person removes the annotation',
    file: 'controller/flapping/assess-flapping.ts',
    find: "return record.untilMs <= wallMs ? { kind: 'over' } : { kind: 'kept', record };",
    replace: "return { kind: 'kept', record };",
  },
  {
    name: 'flapping-at-the-first-recovery',
    what: 'a node that failed once gets no new pods for minutes',
    file: 'controller/flapping/decide-level.ts',
    find: 'countRecoveries(before.atMs, rule, nowMs) + 1 >= rule.recoveries',
    replace: 'countRecoveries(before.atMs, rule, nowMs) + 1 >= 1',
  },
  {
    name: 'maintenance-not-asked',
    what: 'a node that is rebooted on purpose is tainted and emptied',
    file: 'controller/node-holds.ts',
    find: 'return this.#stages.policies.maintenanceOf(this.#node);',
    replace: 'return undefined;',
    also: [
      {
        file: 'controller/holds/decide-holds.ts',
        find: 'return isUncounted ? { untilMs: nowMs + uncountedMs } : undefined;',
        replace: 'return undefined;',
      },
    ],
  },
  {
    name: 'maintenance-never-ends',
    what: 'a node that stays down after its maintenance keeps its pods for ever',
    file: 'controller/policies/decide-maintenance.ts',
    find: 'untilMs: Math.min(sinceMs + maxDurationMs, allUntilMs),',
    replace: 'untilMs: sinceMs + 100 * maxDurationMs,',
  },
  {
    name: 'policy-zones-merged',
    what: 'a rack waits for the NoExecute taints of another one, although its policy has zones of racks',
    file: 'controller/policies/derive-zone.ts',
    find: 'return buildPolicyZone(policy.name, [...outer, domain]);',
    replace: 'return zoneOf(labels);',
  },
  {
    name: 'outer-token-not-taken',
    what: 'the racks of a hall are tainted all at once, although the policy has the hall as outer failure domain',
    file: 'machinery/queueing/rate-limited-queue.ts',
    find: 'this.#buckets = outer === undefined ? [bucket] : [bucket, outer];',
    replace: 'this.#buckets = [bucket];',
  },
  {
    name: 'policy-rate-ignored',
    what: 'nodes of a policy are tainted at the rate of the controller, which is higher',
    file: 'controller/policies/derive-zone.ts',
    find: 'return { ...options, ...options.policies.find((policy) => policy.name === name)?.zones?.settings };',
    replace: 'return name === undefined ? { ...options } : options;',
  },
  {
    name: 'fenced-by-any-boot',
    what: 'a node that was fenced months ago has its pods deleted by force when it is unreachable for a minute',
    file: 'controller/out-of-service/select-evidence.ts',
    find: "node.bootID !== '' && node.fenced === node.bootID ?",
    replace: 'node.fenced !== undefined ?',
  },
  {
    name: 'out-of-service-for-ever',
    what: 'a node that was repaired gets no pods until a person removes the taint',
    file: 'controller/out-of-service/out-of-service-tainter.ts',
    find: "return state.kind === 'back' ? this.#remove(node, state.record) : forget;",
    replace: 'return forget;',
  },
];
