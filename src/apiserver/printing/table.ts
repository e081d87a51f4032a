/**
 * Server-side printing: objects as a `meta.k8s.io` Table, which is what `kubectl get` shows. The columns are the
 * server's to choose, so a client needs to know nothing about a kind to print it.
 */
import type { KubeObject, ListMeta, ObjectMeta } from '../../api/meta.ts';
import { apiVersionOf, type GroupVersionKind } from '../discovery/served-resources.ts';
import type { Column, PrintedRow, Printer } from './column.ts';
import { daemonSetPrinter } from './describe-daemon-set.ts';
import { eventPrinter } from './describe-event.ts';
import { nodePrinter } from './describe-node.ts';
import { defaultPrinter, leasePrinter, namespacePrinter } from './describe-plain.ts';
import { podPrinter } from './describe-pod.ts';

/** How much of each object its row carries: `?includeObject=`. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

export interface PrintOptions {
  /** Wall time; ages are counted up to here. */
  readonly nowMs: number;
  /** `Metadata` unless said otherwise. */
  readonly includeObject?: IncludeObject;
  /** False leaves the column definitions out, as for every event of a watch but the first. */
  readonly withColumns?: boolean;
  /** The version of `meta.k8s.io` the client asked for; `v1` unless said otherwise. */
  readonly version?: 'v1' | 'v1beta1';
}

export interface TableRow extends PrintedRow {
  /** The object, or its metadata; null where the client wanted neither. */
  readonly object: KubeObject | null;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly columnDefinitions: readonly Column[] | null;
  readonly rows: readonly TableRow[];
}

const printers: Readonly<Record<string, Printer>> = {
  '/Node': nodePrinter,
  '/Pod': podPrinter,
  '/Event': eventPrinter,
  '/Namespace': namespacePrinter,
  'apps/DaemonSet': daemonSetPrinter,
  'events.k8s.io/Event': eventPrinter,
  'coordination.k8s.io/Lease': leasePrinter,
};

/** `?includeObject=` as sent: undefined where it is none of the three words; absent means `Metadata`. */
export function parseIncludeObject(text: string | null | undefined): IncludeObject | undefined {
  if (text === undefined || text === null || text === '') return 'Metadata';
  return text === 'None' || text === 'Metadata' || text === 'Object' ? text : undefined;
}

/**
 * A table of objects of one kind. `metadata` is that of the list; for a single object, or an event of a watch, it is
 * `{ resourceVersion }` of the object. Never throws, whatever the objects hold.
 */
export function printTable(
  kind: GroupVersionKind,
  objects: readonly KubeObject[],
  metadata: ListMeta,
  options: PrintOptions,
): Table {
  return {
    kind: 'Table',
    apiVersion: metaVersion(options),
    metadata,
    columnDefinitions: options.withColumns === false ? null : columnsOf(kind),
    rows: objects.map((object) => printRow(kind, object, options)),
  };
}

/** The columns of a kind, those of `-o wide` included: clients leave them out themselves. */
export function columnsOf(kind: GroupVersionKind): readonly Column[] {
  return printerOf(kind).columns;
}

/** One row, for tables that are written piece by piece. */
export function printRow(kind: GroupVersionKind, object: KubeObject, options: PrintOptions): TableRow {
  const row = printerOf(kind).print({ ...object }, options.nowMs);
  return { ...row, object: rowObject(kind, object, options) };
}

function printerOf({ group, kind }: GroupVersionKind): Printer {
  return printers[`${group}/${kind}`] ?? defaultPrinter;
}

function rowObject(kind: GroupVersionKind, object: KubeObject, options: PrintOptions): KubeObject | null {
  if (options.includeObject === 'None') return null;
  if (options.includeObject === 'Object') return { ...object, kind: kind.kind, apiVersion: apiVersionOf(kind) };
  return partialMetadata(object.metadata, options);
}

/** `PartialObjectMetadata`: enough for a client to show labels and to tell objects apart. */
function partialMetadata(metadata: ObjectMeta, options: PrintOptions): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion(options), metadata };
}

function metaVersion(options: PrintOptions): string {
  return `meta.k8s.io/${options.version ?? 'v1'}`;
}
