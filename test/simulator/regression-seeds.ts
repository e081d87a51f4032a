/** Seeds that once broke an invariant, and what they found. Each is run by `npm run test:sim` and in CI. */
export const regressionSeeds: readonly { readonly seed: number; readonly found: string }[] = [
  {
    seed: 45,
    found:
      'after a restore of etcd the caches of nodes and pods kept the state before it for as long as they were quiet',
  },
  { seed: 1019, found: 'in a full disruption the NoExecute taint of a node was removed by two requests at once' },
  { seed: 1000714, found: 'the first node of a path failure was counted in the hold, and tainted during it' },
  {
    seed: 2000089,
    found: 'with a grace period of 24 s the first node of a path failure was classified as NodeFailure',
  },
  { seed: 2000214, found: 'a node was Unknown 44 s after its last renewal, which was counted from the list before' },
  {
    seed: 3000959,
    found:
      'watches opened again after a loss of contact were closed by its end, so that contact was lost again and again',
  },
  {
    seed: 4000069,
    found:
      'a node that recovered while its NoExecute taint was being written lost its NoSchedule taint by two requests at once',
  },
  { seed: 2000567, found: 'a replica that started during a restore of etcd kept the nodes from before it' },
  { seed: 374, found: 'a standby that could not watch for a minute after a restore of etcd missed a pod for ever' },
  { seed: 1923, found: 'two work queues sent the taints of a node by two requests at once, of which one was refused' },
  {
    seed: 6000340,
    found:
      'a healthy node whose lease could not be read was Unknown by a cache that lacked renewals of all other nodes',
  },
  { seed: 7000337, found: 'a pod was marked NotReady while the patch that precedes its deletion was in flight' },
  {
    seed: 7002586,
    found: 'a node that was created again, which only a live read showed, had no deadline until the resync',
  },
  { seed: 7003606, found: 'a leader that had noticed a suspend forgot it when its wall clock was set back' },
  { seed: 4000994, found: 'NoExecute taints waited behind deletions of pods, and came closer together than the rate' },
  {
    seed: 7005303,
    found:
      'after a restore of etcd, pods that could not be decoded held back their own changes, as if these were older',
  },
  { seed: 7005358, found: 'a standby that was suspended during a restore of etcd kept a pod that was gone' },
  {
    seed: 8000173,
    found: 'a replica that started before a restore of etcd missed a node, whose versions the storage had passed again',
  },
  {
    seed: 8001772,
    found: 'a new leader deleted pods for a taint that another client had removed while no watch was open',
  },
  {
    seed: 9003743,
    found: 'a node that a refused write showed to be Ready had no deadline until the resync',
  },
  {
    seed: 9004533,
    found: 'a pod that a restore of etcd brought back, after its deletion was accepted, stayed for minutes',
  },
  {
    seed: 20006191,
    found: 'a node kept a NoExecute taint that only the answer to a write showed, which a restore of etcd undid',
  },
  {
    seed: 20006435,
    found: 'a standby that was suspended while its caches filled, during a restore of etcd, kept a node from before',
  },
  {
    seed: 30000425,
    found:
      'a replica whose lists hung during a restore of etcd kept a pod from before it, as no list showed the restore',
  },
  {
    seed: 30009540,
    found: 'a node whose lease could not be read was Unknown by the cache while a list of leases was in flight',
  },
  {
    seed: 40000590,
    found: 'a pod was deleted for a taint that its node had in its last state that could be decoded, and no more',
  },
  {
    seed: 40003230,
    found: 'a node became Unknown by a repeated write, although the live read after the refused one showed a heartbeat',
  },
  {
    seed: 40009116,
    found: 'a pod whose deletion could not be decoded came back by a repeated earlier change that could',
  },
  {
    seed: 50005890,
    found: 'a longer grace period, set while the watches were quiet, paused the evaluation of all nodes for seconds',
  },
  {
    seed: 50007496,
    found:
      'nothing in the controller: simulated users bound pods to silent nodes for ever, so that the cluster was never quiet',
  },
  {
    seed: 147929359,
    found:
      'nothing in the controller: the limit for what is remembered of a deleted node left out a watch that was ended for its silence only',
  },
  {
    seed: 31415153,
    found:
      'a restore of etcd undid the mark of a pod of a silent node, and it was not made again: the pod kept its traffic',
  },
  {
    seed: 62000032,
    found:
      'a pod whose patch was denied was asked for every second, because each wait for a token of its policy ended the backoff',
  },
  {
    seed: 70000128,
    found:
      'nothing in the controller: with one write at a time the simulated write that hung kept the taint of another node waiting',
  },
  {
    seed: 220311434,
    found:
      'nothing in the controller: in eviction mode a silent node keeps the NoExecute taint that a user added to it, as is documented',
  },
  {
    seed: 90000922,
    found:
      'nothing in the controller: the checker of eviction mode did not know that the lease of a node could not be decoded',
  },
  {
    seed: 90000946,
    found:
      'nothing in the controller: a fencing agent that had left its evidence changed the time of it alone, which proves nothing',
  },
  {
    seed: 95000379,
    found: 'nothing in the controller: a restore of etcd brought back a finalizer that a user had removed, for ever',
  },
  {
    seed: 96000846,
    found:
      'nothing in the controller: the checker did not know that a pod is marked once for each silence, and stays as its kubelet reports it again',
  },
  {
    seed: 97002053,
    found:
      'nothing in the controller: with one write at a time thirty nodes that fail together are Unknown one after the other, later than the checker allowed',
  },
  {
    seed: 99002116,
    found:
      'nothing in the controller: the checker did not know that a toleration that a user makes longer, but not without limit, does not postpone a deletion',
  },
  {
    seed: 99003410,
    found:
      'nothing in the controller: a pod that was bound to a silent node was reported ready for the first time by a kubelet that was back, moments before its node; the checker counted from the binding',
  },
  {
    seed: 99005799,
    found:
      'a hollow node: its machine was not switched off while its kubelet was down, so the evidence of a fencing agent was untrue',
  },
  {
    seed: 99006772,
    found:
      'nothing in the controller: a restore brought more taints than are cached back, and a drill denied the read that a change of them needs',
  },
  {
    seed: 84506993,
    found:
      'a deletion met the answer to a patch of its pod by the same replica, and waited out a backoff that denied requests before it had made long',
  },
  {
    seed: 101005065,
    found:
      'nothing in the controller: a restore brought back the annotation of a pause, whose end was an hour away by the clock of the leader',
  },
  {
    seed: 120000649,
    found:
      'nothing in the controller: it had read a pod after a conflict, and the checker compared the deletion with the older version of the watch',
  },
  {
    seed: 130000530,
    found:
      'nothing in the controller: a new leader counted the taint of another client from the time in it, and one of two checks did not',
  },
  {
    seed: 110001993,
    found:
      'the process was suspended over a restore while it waited for a lease that no leader had renewed since before the backup, which proved nothing',
  },
  {
    seed: 140000070,
    found:
      'nothing in the controller: no node could be read, and pods that had been bound a moment before waited until the watch of nodes was newer',
  },
  {
    seed: 140000905,
    found:
      'the watch of nodes did not show that a node was Ready again, and when the watch of leases died too, its pods were evicted',
  },
  {
    seed: 140000962,
    found: 'nothing in the controller: in eviction mode pods do not ask to be kept',
  },
  {
    seed: 140004870,
    found:
      'a pod that a restore brought back was not evicted for six minutes, because its deletion had been accepted before',
  },
  {
    seed: 150005558,
    found:
      'nothing in the controller: in eviction mode a dead node keeps the taint not-ready that a user had added, and a checker expected another key',
  },
  {
    seed: 150006900,
    found:
      'a process that was suspended over a restore took over what its connections had buffered before it, and continued from versions that the storage had passed again',
  },
  {
    seed: 170004049,
    found:
      'nothing in the controller: a node flapped at a grace period of 8 s until its Events were limited, and the next one counted those that were not sent',
  },
  {
    seed: 170005889,
    found:
      'nothing in the controller: in eviction mode a checker forgot that a node had not been Ready for the timeout when it was Ready for ten seconds again, which a dead watch did not show',
  },
  {
    seed: 170008034,
    found:
      'a webhook had dropped the mark of a pod, a user wrote the pod, and it was taken for marked: it stayed Ready on a dead node',
  },
  {
    seed: 180002039,
    found:
      'a webhook dropped two changes of one node, which were written twice a second while leases were listed: each answer of 200 ended the backoff',
  },
  {
    seed: 340003706,
    found:
      'when the last policy with early detection was gone, which nodes had answered was remembered, of deleted nodes too',
  },
  {
    seed: 1258321097,
    found:
      'nothing in the controller: a kubelet that came back ended a stuck pod before its node was Ready again, and a checker had counted it',
  },
  {
    seed: 520006677,
    found:
      'nothing in the controller: a silence that probes had proven was counted for 0.3 s before its state was written, and a checker counted states',
  },
  {
    seed: 630004070,
    found:
      'nothing in the controller: evidence of fencing is older than the last status of a kubelet whose clock was an hour ahead, and a drill expected it to count',
  },
  {
    seed: 710002963,
    found:
      'eviction mode deleted the pods of a node that had recovered: the watch of nodes had delivered nothing for 55 s, and no write shows a newer version first',
  },
  {
    seed: 720003189,
    found:
      'a restore of etcd gave a node the version again that its taint had had before: the list was taken for unchanged, and pods were deleted for a taint that was gone',
  },
  {
    seed: 730000914,
    found:
      'nothing in the controller: the checker took the time of a signal of maintenance after a step of the wall clock, and that counts from when it was seen, as it was in the future then',
  },
  {
    seed: 730001975,
    found:
      'the clock stood still for twelve seconds because a watch was opened again, in its turn, in the second in which the API server was asked',
  },
  {
    seed: 760001658,
    found:
      'nothing in the controller: the checker counted a heartbeat that a watch cache showed five seconds later, after the node had been evicted in eviction mode',
  },
  {
    seed: 760006551,
    found:
      'a restore of etcd undid the mark of a pod, whose version then passed the one that had been marked: it counted as marked, and stayed in its Services',
  },
  {
    seed: 770005247,
    found:
      'nothing in the controller: a drill did not count a completed pod that was evicted within the limit of an hour',
  },
  {
    seed: 780007340,
    found:
      'nothing in the controller: the lease of a silent node could be read for the first time long after the faults, and one read confirmed its silence while all was quiet',
  },
  {
    seed: 790000307,
    found:
      'a standby could not decode the lease of the leader election for 48 s after its start, and was cut off then: that etcd was restored meanwhile was not noticed',
  },
  {
    seed: 790004994,
    found:
      'nothing in the controller: a place was free for 0.15 s, until a pod landed on the empty node, and a drill asked each second',
  },
  {
    seed: 800001544,
    found:
      'a watch of leases had stalled for 30 s when etcd was restored from a backup of before that: nodes whose renewals were lost with the storage became Unknown at once',
  },
  {
    seed: 800001579,
    found:
      'nothing in the controller: settings changed ten times within a minute, and each time what had failed was tried again at once',
  },
  {
    seed: 800002254,
    found:
      'nothing in the controller: a policy with flapping was removed while the write that keeps a node was under way, and the checker counted no recovery',
  },
  {
    seed: 800005688,
    found:
      'nothing in the controller: a pod that had completed before the drill was deleted for its age, and the drill counted from its own beginning',
  },
  {
    seed: 800007848,
    found:
      'a pause between two requests to the Eviction API that failed counted as time in which the budget was asked: the pod was deleted too early',
  },
  {
    seed: 810001545,
    found:
      'nothing in the controller: completed pods that no policy keeps held the place of their silent node until they were deleted, and a drill took it for empty',
  },
  {
    seed: 820002179,
    found:
      'a restore of etcd brought pods back that had completed since the backup: the garbage collector deleted them as completed, a moment before its list showed that they run',
  },
  {
    seed: 830002359,
    found: 'nothing in the controller: a taint of a user evicted completed pods in a drill of the garbage collector',
  },
  {
    seed: 830005851,
    found:
      'nothing in the controller: a node that was Unknown early waited for the heartbeats of the nodes that may have failed with it',
  },
  {
    seed: 840001826,
    found:
      'nothing in the controller: a replica was restarted three times within a minute, and each new process tried again at once what had failed',
  },
  {
    seed: 870004674,
    found:
      'a pod was deleted for the taint of another client although the answer to a live read had shown that it is gone: the watch had not yet',
  },
  {
    seed: 870004172,
    found:
      'a pod was deleted by its former tolerations: the version with longer ones could not be decoded when its deadline was set, which then stayed',
  },
  {
    seed: 880000081,
    found:
      'nothing in the controller: mode Detect ended by the time since when the node was Unknown, which was a moment before its taint',
  },
];

/** Those that were found before this one: what has been drawn since then must not change their stories. */
export function seedsBefore(seed: number): readonly number[] {
  const all = regressionSeeds.map((each) => each.seed);
  return all.slice(0, all.indexOf(seed));
}
