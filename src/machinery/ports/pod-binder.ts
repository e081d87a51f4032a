import type { ObjectName } from './kube-reader.ts';

export interface PodBinder {
  /**
   * Binds a pod to a node, once. Rejects only with an ApiError: `conflict` if it is bound already or has another uid. After
   * `timeout` and `unavailable` the outcome is unknown. Nothing is retried.
   */
  bind(
    pod: ObjectName & { readonly uid: string },
    node: string,
    options: { readonly signal: AbortSignal },
  ): Promise<void>;
}
