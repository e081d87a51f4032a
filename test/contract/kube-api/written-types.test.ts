// The types of the objects that are written have only fields that the generated types of the JavaScript Kubernetes client
// have, and of the same type. The compiler checks it, and names the field of a difference.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CoreV1Event, EventsV1Event, V1Lease, V1Node, V1Pod } from '@kubernetes/client-node';
import type { Event, EventV1 } from '../../../src/machinery/api/event.ts';
import type { Lease } from '../../../src/machinery/api/lease.ts';
import type { Node } from '../../../src/machinery/api/node.ts';
import type { Pod } from '../../../src/machinery/api/pod.ts';

/** The generated types have times as dates: on the wire they are strings. */
type Wire<T> = T extends Date ? string : T;

/** The paths of the fields of `Written` that `Generated` does not have, or with another type; never if there are none. */
type Differences<Written, Generated> = Written extends readonly (infer Item)[]
  ? Generated extends readonly (infer GeneratedItem)[]
    ? Differences<Item, GeneratedItem>
    : ': no list'
  : Written extends object
    ? DifferentFields<Written, Generated>
    : Written extends Wire<Generated>
      ? never
      : ': another type';

/** A written field may be null: a patch removes it so. A map in place of fields is not compared. */
type DifferentFields<Written, Generated> = string extends keyof Written
  ? string extends keyof Generated
    ? Differences<Written[keyof Written], Generated[keyof Generated]>
    : never
  : {
      [Name in keyof Written & string]: Name extends keyof Generated
        ? Below<Name, Differences<NonNullable<Written[Name]>, NonNullable<Generated[Name]>>>
        : `.${Name}`;
    }[keyof Written & string];

type Below<Name extends string, Path extends string> = `.${Name}${Path}`;

/** The written and the generated type of each kind. */
interface Kinds {
  readonly Node: readonly [Node, V1Node];
  readonly Pod: readonly [Pod, V1Pod];
  readonly Lease: readonly [Lease, V1Lease];
  readonly Event: readonly [Event, CoreV1Event];
  readonly EventV1: readonly [EventV1, EventsV1Event];
}

type AllDifferences = {
  [Kind in keyof Kinds]: `${Kind}${Differences<Kinds[Kind][0], Kinds[Kind][1]>}`;
}[keyof Kinds];

const shared = 'nodes and pods share the type of a condition';
const known: Readonly<Record<AllDifferences, string>> = {
  'Node.status.conditions.lastProbeTime': shared,
  'Node.status.conditions.observedGeneration': shared,
  'Pod.status.conditions.lastHeartbeatTime': shared,
};

test('every difference to the generated types has a reason', () => {
  for (const reason of Object.values(known)) assert.ok(reason);
});
