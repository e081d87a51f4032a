import { type EvictionView, evictionKey, transformEviction } from '../../src/machinery/api/eviction.ts';
import type { KubeObject } from '../../src/machinery/api/meta.ts';
import { formatTime } from '../../src/machinery/api/timestamps.ts';
import type { ControllerWorld } from './controller-world.ts';

interface EvictionFields {
  readonly pod?: string;
  readonly uid?: string;
  readonly namespace?: string;
  readonly responder?: string;
  readonly state?: string;
  /** Wall time; undefined: it has sent none. */
  readonly heartbeatAtMs?: number | undefined;
  readonly completedAtMs?: number | undefined;
}

export const aResponder = 'pg.example.com/operator';

/** An Eviction as on the wire, as its controller and a responder fill it. */
export function anEviction(fields: EvictionFields = {}): KubeObject {
  const {
    pod = 'web',
    uid = 'uid-web',
    namespace = 'default',
    responder: name = aResponder,
    state = 'Active',
  } = fields;
  const heartbeatTime = fields.heartbeatAtMs === undefined ? undefined : formatTime(fields.heartbeatAtMs);
  const completionTime = fields.completedAtMs === undefined ? undefined : formatTime(fields.completedAtMs);
  const later = 'imperative-eviction.k8s.io/evictor';
  return {
    metadata: { namespace, name: `${pod}-1`, uid: `eviction-of-${uid}`, resourceVersion: '7' },
    spec: { target: { pod: { name: pod, uid } } },
    status: {
      requesters: [{ name: 'drain.example.com/nodes', intent: 'Eviction' }],
      targetResponders: [
        { name, priority: 10_000, state },
        { name: later, priority: 100, state: 'Inactive' },
      ],
      responders: [{ name, heartbeatTime, completionTime }, { name: later }],
    },
  } as KubeObject;
}

/** The cache holds this Eviction of a pod of the world, with a heartbeat of so many seconds ago. */
export function request(
  world: ControllerWorld,
  fields: EvictionFields & { readonly secondsAgo?: number },
): EvictionView {
  const { pod = 'web', secondsAgo = 0 } = fields;
  const { uid } = world.pod(pod)?.metadata ?? {};
  const heartbeatAtMs = world.clock.nowMs() - secondsAgo * 1_000;
  const view = transformEviction(anEviction({ heartbeatAtMs, ...(uid === undefined ? {} : { uid }), ...fields }));
  world.evictions.set(evictionKey(view), view);
  return view;
}
