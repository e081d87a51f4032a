import type { Mutant } from './mutant.ts';

/** Where features meet: holds, evidence, modes. */
export const meetingDefects: readonly Mutant[] = [
  // limits of a policy
  {
    name: 'breaker-off-by-one',
    what: 'a policy whose limit allows one unhealthy node keeps it without a NoExecute taint for ever',
    file: 'controller/policies/decide-breaker.ts',
    find: 'if (excessOf(count, limits) <= 0)',
    replace: 'if (excessOf(count, limits) < 0)',
  },
  {
    name: 'breaker-opens-too-late',
    what: 'one node more than the limit allows is tainted and emptied',
    file: 'controller/policies/decide-breaker.ts',
    find: 'if (excessOf(count, limits) <= 0)',
    replace: 'if (excessOf(count, limits) <= 1)',
  },
  {
    name: 'cooldown-ends-at-once',
    what: 'a breaker closes with the first recovery, whatever the cooldown',
    file: 'controller/policies/decide-breaker.ts',
    find: 'if (monotonicMs >= recoveredAtMs + cooldownMs) return undefined;',
    replace: 'if (monotonicMs >= recoveredAtMs) return undefined;',
  },
  {
    name: 'cooldown-lost-at-takeover',
    what: 'a new leader taints and empties nodes at once whose breaker is in its cooldown',
    file: 'controller/policies/decide-inherited-breaker.ts',
    find: 'if (recoveredAtMs === undefined) return undefined;',
    replace: 'if (recoveredAtMs !== null) return undefined;',
  },
  {
    name: 'terminating-pods-keep-a-place',
    what: 'the pods of a dead node terminate for ever, and no other node of its policy is emptied',
    file: 'controller/policies/emptying-nodes.ts',
    find: 'const stays = pod.terminating || this.#options.policies.keeperOf',
    replace: 'const stays = this.#options.policies.keeperOf',
  },
  {
    name: 'deletions-at-once',
    what: 'the pods of a node are deleted at once, whatever podDeletionsPerSecond says',
    file: 'controller/taint-eviction/removal-pace.ts',
    find: 'if (rate === undefined) {',
    replace: 'if (rate !== null) {',
  },
  // planned maintenance
  {
    name: 'maintenance-from-first-seen',
    what: 'each new leader begins the maximum of a planned maintenance again',
    file: 'controller/policies/decide-maintenance.ts',
    find: 'return atMs === undefined || atMs > wallMs + clockSkewMs ? undefined : atMs;',
    replace: 'return atMs === wallMs ? atMs : undefined;',
  },
  // claims
  {
    name: 'first-of-equal-claims',
    what: 'of two policies that claim a node equally the first one applies, with a grace period for other nodes',
    file: 'controller/policies/select-policy.ts',
    find: 'return equal.length === 1 ?',
    replace: 'return equal.length >= 1 ?',
  },
  // budgets
  {
    name: 'eviction-without-uid',
    what: 'a late eviction removes the pod that was created under the same name meanwhile',
    file: 'controller/writer/api-writer.ts',
    find: 'return api.evict({ namespace, name }, options);',
    replace: 'return api.evict({ namespace, name }, { ...options, uid: undefined });',
  },
  {
    name: 'budget-without-end',
    what: 'a pod whose budget never allows its eviction stays on a node that is not ready',
    file: 'controller/taint-eviction/decide-removal-method.ts',
    find: "askedMs < timeoutMs || !hasRequested ? 'evict' : 'delete';",
    replace: "askedMs < timeoutMs || !hasRequested ? 'evict' : 'evict';",
  },
  {
    name: 'budget-not-asked',
    what: 'the last replica of a workload is deleted from a node that is not ready and reachable',
    file: 'controller/taint-eviction/decide-removal-method.ts',
    find: "askedMs < timeoutMs || !hasRequested ? 'evict' : 'delete';",
    replace: "askedMs < timeoutMs || !hasRequested ? 'delete' : 'delete';",
  },
  {
    name: 'refused-pod-ignores-unreachable',
    what: 'a pod that a budget held stays until its timeout although its node became unreachable',
    file: 'controller/taint-eviction/removal-pace.ts',
    find: 'const isReachable = rules.isReachable(eviction.node);',
    replace:
      'const isRefused = [...this.#options.timed.values()].some((each) => each.node === eviction.node && each.refused !== undefined);\n    const isReachable = isRefused || rules.isReachable(eviction.node);',
  },
  {
    name: 'refused-eviction-repeated-at-once',
    what: 'the Eviction API is asked ten times a second for a pod that its budget holds',
    file: 'controller/taint-eviction/removal-pace.ts',
    find: 'eviction.refused = { why, message, sinceMs, retryAtMs, requests: requests + 1 };',
    replace: 'eviction.refused = { why, message, sinceMs, retryAtMs: nowMs + 100, requests: 0 };',
  },
  // pauses
  {
    name: 'pause-marks-unknown',
    what: 'a paused node that is silent becomes Unknown, and its pods leave their Services',
    file: 'controller/holds/decide-holds.ts',
    find: 'covers: worse,',
    replace: "covers: worse.filter((act) => act !== 'mark-unknown'),",
  },
  {
    name: 'annotation-does-not-pause',
    what: 'a node that an administrator paused by its annotation is tainted and emptied',
    file: 'controller/holds/decide-node-hold.ts',
    find: 'node?.pause === undefined ? undefined : pausedByAnnotation(node.pause, wallMs);',
    replace: 'undefined;',
  },
  {
    name: 'malformed-pause-does-not-pause',
    what: 'a node whose pause annotation has a typing error is tainted and emptied',
    file: 'controller/holds/decide-node-hold.ts',
    find: "return untilMs === undefined ? { kind: 'malformed' } :",
    replace: "return untilMs === undefined ? { kind: 'none' } :",
  },
  // mode Detect
  {
    name: 'detect-evicts',
    what: 'a node whose policy only detects is tainted and emptied',
    file: 'controller/holds/decide-holds.ts',
    find: "(mode?.mode === 'Detect' ? { untilMs: mode.untilMs } : undefined),",
    replace: '(mode?.mode === undefined ? undefined : undefined),',
  },
  {
    name: 'overflow-at-once',
    what: 'all nodes beyond the limit of a policy with limits.overflow are emptied at once',
    file: 'controller/policies/overflow-nodes.ts',
    find: '|| nowMs < overflow.nextAtMs) return undefined;',
    replace: ') return undefined;',
  },
  {
    name: 'overflow-never',
    what: 'no node beyond the limit of a policy with limits.overflow is emptied',
    file: 'controller/policies/overflow-nodes.ts',
    find: 'overflow.admitted.add(first.name);',
    replace: '',
  },
  {
    name: 'window-ignored',
    what: 'a window of a schedule changes nothing',
    file: 'policy/schedules/decide-windows.ts',
    find: 'mode: mode ?? policy.mode,',
    replace: 'mode: policy.mode,',
  },
  {
    name: 'window-without-end',
    what: 'a window of a schedule lasts until the next one begins',
    file: 'policy/schedules/decide-windows.ts',
    find: 'untilMs: startedAtMs + schedule.durationMs,',
    replace: 'untilMs: nextAtMs,',
  },
  {
    name: 'detect-ends-early',
    what: 'a node whose policy detects for some time is emptied after half of it',
    file: 'controller/holds/decide-node-hold.ts',
    find: 'Math.min(sinceMs + evictAfterMs(claim), ',
    replace: 'Math.min(sinceMs + evictAfterMs(claim) / 2, ',
  },
  {
    name: 'detect-without-end',
    what: 'a node whose policy detects for some time is never emptied',
    file: 'controller/holds/decide-node-hold.ts',
    find: 'Math.min(sinceMs + evictAfterMs(claim), ',
    replace: 'Math.min(sinceMs * evictAfterMs(claim) + Infinity, ',
  },
  {
    name: 'detect-marks-pods',
    what: 'pods of a node whose policy keeps them Ready are marked NotReady',
    file: 'controller/holds/decide-node-hold.ts',
    find: 'detecting.some(({ detect }) => detect?.markPods === false);',
    replace: 'detecting.length === 0;',
  },
  {
    name: 'autonomy-ignored',
    what: 'a pod that asks to be kept is evicted although its policy permits it',
    file: 'controller/policies/select-policy.ts',
    find: "if (pod.labels[autonomyLabel] !== 'true') return undefined;",
    replace: "if (pod.labels[autonomyLabel] !== 'false') return undefined;",
  },
  {
    name: 'autonomy-without-end',
    what: 'a pod that asks to be kept stays on a dead node for ever',
    file: 'controller/policies/select-policy.ts',
    find: 'return rule === undefined || untilMs <= wallMs ?',
    replace: 'return rule === undefined || untilMs <= 0 ?',
  },
  // marks of other tools
  {
    name: 'veto-ignored',
    what: 'a node that another tool marked is emptied although its policy lets the mark hold',
    file: 'controller/holds/decide-holds.ts',
    find: 'applies: ({ veto }) => veto && { untilMs: veto.untilMs },',
    replace: 'applies: ({ veto }) => (veto === undefined ? undefined : undefined),',
  },
  {
    name: 'veto-without-end',
    what: 'a node that another tool marked, and never unmarks, is never emptied',
    file: 'controller/policies/decide-veto.ts',
    find: 'const untilMs = unhealthySinceMs + (rule?.maxDurationMs ?? 0);',
    replace: 'const untilMs = unhealthySinceMs + (rule?.maxDurationMs ?? 0) + 3_600_000;',
  },
  // flapping nodes
  {
    name: 'flapping-level-lost',
    what: 'a node that recovers again and again is never kept for longer than after its first recovery',
    file: 'controller/flapping/decide-level.ts',
    find: 'return Math.min(before.level + 1, levelMax);',
    replace: 'return Math.min(1, levelMax);',
  },
  {
    name: 'flapping-taint-kept-after-a-restart',
    what: 'a new leader never releases the nodes that the previous one kept from new pods',
    file: 'controller/flapping/flapping-tainter.ts',
    find: "if (state.kind === 'none' || state.kind === 'kept') return undefined;",
    replace:
      "if (state.kind === 'none' || state.kind === 'kept') return undefined;\n    if (state.kind === 'over' && !this.#keptHere.has(name)) return undefined;",
    also: [
      {
        file: 'controller/flapping/flapping-tainter.ts',
        find: 'readonly #unanswered = new Map<string, Unanswered>();',
        replace: 'readonly #unanswered = new Map<string, Unanswered>();\n  readonly #keptHere = new Set<string>();',
      },
      {
        file: 'controller/flapping/flapping-tainter.ts',
        find: "meter.add(flappingRecoveries, 1, { policy, result: 'kept' });",
        replace: "meter.add(flappingRecoveries, 1, { policy, result: 'kept' });\n    this.#keptHere.add(node.name);",
      },
    ],
  },
  // modes
  {
    name: 'shadow-writes',
    what: 'a shadow tries to write what it decides',
    file: 'manager/manager.ts',
    find: 'writer: this.#shadow?.writer,',
    replace: 'writer: undefined,',
  },
  {
    name: 'eviction-mode-too-early',
    what: 'in eviction mode the pods of a node are deleted after half of the pod eviction timeout',
    file: 'controller/pod-eviction-mode/decide-pod-eviction.ts',
    find: 'return unreadyMs > timeoutMs ?',
    replace: 'return unreadyMs > timeoutMs / 2 ?',
  },
  {
    name: 'detector-deletes',
    what: 'a process that is to detect failures only deletes pods',
    file: 'controller/node-lifecycle.ts',
    find: '...(taintEviction ? [evaluated.then(() => evictor.run(signal))] : []),',
    replace: '...(evictor === undefined ? [] : [evaluated.then(() => evictor.run(signal))]),',
    also: [
      {
        file: 'controller/node-lifecycle.ts',
        find: 'if (taintEviction) evictor.takeOver(',
        replace: 'if (evictor !== undefined) evictor.takeOver(',
      },
    ],
  },
  {
    name: 'wait-ends-backoff',
    what: 'a pod that waits for a token begins its backoff again, so that a request that is denied is repeated every second',
    file: 'machinery/queueing/work-queue.ts',
    find: "      case 'requeue':\n",
    replace: "      case 'requeue':\n        this.#backoff.forget(key);\n",
  },
  {
    name: 'hourly-limit-off-by-one',
    what: 'one pod more than the maximum of a policy is evicted within an hour',
    file: 'controller/policies/hourly-evictions.ts',
    find: 'if (over < 0) return undefined;',
    replace: 'if (over <= 0) return undefined;',
  },
];
