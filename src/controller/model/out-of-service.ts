/** The taint out-of-service of a node that was fenced. */

/** What is kept on the node with the taint. */
export interface OutOfServiceRecord {
  /** Boot ID that was fenced. */
  readonly bootID: string;
  /** Evidence of fencing, such as `taint node.cloudprovider.kubernetes.io/shutdown`. */
  readonly evidence: string;
  /** RFC 3339. */
  readonly addedAt: string;
}

/**
 * `none`: no policy or label allows it, and no record exists. `foreign`: it has the taint, which another client added.
 * `unproven`: nothing proves that it was fenced. `unordered`: it is not known whether what says so appeared after the last
 * heartbeat. `disproved`: a heartbeat came after it. `isEvicted`: nothing but that is missing. `no-boot-id`: the kubelet reported none, so its return could not be
 * noticed. `not-unreachable`: it is not Unknown, or has no NoExecute taint for it yet. `due`: to be added. `in-place`.
 * `removed-by-other`: the taint is gone, which was no act of the controller, so it is not added for this boot again.
 * `same-boot`: Ready, and still in the boot that was said to be fenced. `back`: another boot, so it is to be removed.
 * `malformed`: the record cannot be read, so nothing is changed.
 */
export type OutOfServiceState =
  | { readonly kind: 'none' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'unproven' }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unordered'; readonly evidence: string; readonly isEvicted: boolean }
  | { readonly kind: 'disproved'; readonly evidence: string; readonly isEvicted: boolean }
  | { readonly kind: 'no-boot-id'; readonly evidence: string }
  | { readonly kind: 'not-unreachable'; readonly evidence: string }
  | { readonly kind: 'due'; readonly evidence: string }
  | { readonly kind: 'in-place'; readonly record: OutOfServiceRecord }
  | { readonly kind: 'removed-by-other'; readonly record: OutOfServiceRecord }
  | { readonly kind: 'same-boot'; readonly record: OutOfServiceRecord }
  | { readonly kind: 'back'; readonly record: OutOfServiceRecord };

/** Why evidence does not prove that a node was fenced. */
export type FencingDoubt = 'unordered' | 'disproved';

const doubts: Readonly<Record<FencingDoubt, string>> = {
  unordered: 'it is not known whether it appeared after the last heartbeat of the node',
  disproved: 'a heartbeat of the node came after it',
};

/** A clause for messages and pages. */
export function describeFencingDoubt(why: FencingDoubt): string {
  return doubts[why];
}
