/**
 * Server-side printing: objects as a `meta.k8s.io` Table, which `kubectl get` displays. The server defines the columns,
 * so that a client can print any kind.
 */
import { ownValue } from '../../../machinery/api/json-map.ts';
import type { KubeObject, ListMeta } from '../../../machinery/api/meta.ts';
import { apiVersionOf, type GroupVersionKind, type ServedResource } from '../resources.ts';
import { textAt } from '../../../machinery/api/select-field.ts';
import { type Cell, type Column, nameColumn, type PrintedColumn, ageColumn } from './describe-columns.ts';
import { describeCustomColumn } from '../kinds/custom-resource/describe-custom-column.ts';
import { completedConditions, type RowCondition, podColumns } from '../kinds/pod/describe-pod.ts';
import { namespaceColumns } from '../kinds/namespace/namespace-strategy.ts';
import { leaseColumns } from '../kinds/lease/lease-strategy.ts';
import { roleBindingColumns, roleColumns } from '../kinds/rbac/describe-access.ts';
import { budgetColumns } from '../kinds/budget/budget-strategy.ts';
import { configMapColumns } from '../kinds/config-map/config-map.ts';
import {
  daemonSetColumns,
  deploymentColumns,
  replicaSetColumns,
  scaleColumns,
  statefulSetColumns,
} from '../kinds/workloads/describe-workloads.ts';
import { eventColumns } from '../kinds/event/describe-event.ts';
import { nodeColumns } from '../kinds/node/describe-node.ts';

/** The part of each object that its row contains: `?includeObject=`. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

interface PrintOptions {
  /** Wall time to which ages are computed. */
  readonly nowMs: number;
  /** Default: `Metadata`. */
  readonly includeObject?: IncludeObject;
  /** False omits the column definitions, as in every event of a watch after the first. */
  readonly withColumns?: boolean;
  /** The version of `meta.k8s.io` that the client requested; default `v1`. */
  readonly version?: 'v1' | 'v1beta1';
}

export interface TableRow {
  /** Cells, one for every column, in order. */
  readonly cells: readonly Cell[];
  readonly conditions?: readonly RowCondition[];
  /** The object, or its metadata; null if the client requested neither. */
  readonly object: KubeObject | null;
}

export interface Table {
  readonly kind: 'Table';
  readonly apiVersion: string;
  readonly metadata: ListMeta;
  readonly columnDefinitions: readonly Column[] | null;
  readonly rows: readonly TableRow[];
}

/** A kind, with its columns if it is a custom resource. */
type PrintedKind = GroupVersionKind & Pick<ServedResource, 'custom'>;

function printedColumnsOf({ group, kind, custom }: PrintedKind): readonly PrintedColumn[] {
  if (custom !== undefined) return [nameColumn, ...custom.columns.map(describeCustomColumn)];
  return ownValue(columnsByKind, `${group}/${kind}`) ?? defaultColumns;
}

/** The columns of a kind, including those of `-o wide`: clients select. */
export function columnsOf(kind: PrintedKind): readonly Column[] {
  return printedColumnsOf(kind).map(({ cell: _cell, ...definition }) => definition);
}

/** The value of `?includeObject=`: undefined if it is not one of the three; `Metadata` when absent. */
export function parseIncludeObject(text: string | null | undefined): IncludeObject | undefined {
  if (text === undefined || text === null || text === '') return 'Metadata';
  return text === 'None' || text === 'Metadata' || text === 'Object' ? text : undefined;
}

/**
 * A table of objects of one kind. `metadata` is that of the list; for a single object, or an event of a watch, it is
 * `{ resourceVersion }` of the object. Never throws, whatever the content of the objects.
 */
export function printTable(
  kind: PrintedKind,
  objects: readonly KubeObject[],
  metadata: ListMeta,
  options: PrintOptions,
): Table {
  return {
    kind: 'Table',
    apiVersion: metaVersion(options.version),
    metadata,
    columnDefinitions: options.withColumns === false ? null : columnsOf(kind),
    rows: objects.map((object) => printRow(kind, object, options)),
  };
}

/** A row, for tables that are written incrementally. */
export function printRow(kind: PrintedKind, object: KubeObject, options: PrintOptions): TableRow {
  const fields = { ...object };
  const cells = printedColumnsOf(kind).map(({ cell }) => cell(fields, options.nowMs));
  const completed = kind.kind === 'Pod' ? ownValue(completedConditions, textAt(fields, 'status', 'phase')) : undefined;
  const conditions = completed === undefined ? {} : { conditions: [completed] };
  return { cells, ...conditions, object: rowObject(kind, object, options) };
}

function rowObject(kind: GroupVersionKind, object: KubeObject, options: PrintOptions): KubeObject | null {
  if (options.includeObject === 'None') return null;
  if (options.includeObject === 'Object') return { ...object, kind: kind.kind, apiVersion: apiVersionOf(kind) };
  return partialMetadata(object.metadata, options.version);
}

/** `PartialObjectMetadata`: labels and the identity of the object. */
export function partialMetadata(metadata: KubeObject['metadata'], version: PrintOptions['version']): KubeObject {
  return { kind: 'PartialObjectMetadata', apiVersion: metaVersion(version), metadata };
}

export function metaVersion(version: PrintOptions['version'] = 'v1'): string {
  return `meta.k8s.io/${version}`;
}

/** Columns by group and kind. */
const columnsByKind: Readonly<Record<string, readonly PrintedColumn[]>> = {
  '/Node': nodeColumns,
  '/Pod': podColumns,
  '/Event': eventColumns,
  '/Namespace': namespaceColumns,
  '/ConfigMap': configMapColumns,
  'autoscaling/Scale': scaleColumns,
  'rbac.authorization.k8s.io/ClusterRole': roleColumns,
  'rbac.authorization.k8s.io/ClusterRoleBinding': roleBindingColumns,
  'rbac.authorization.k8s.io/Role': roleColumns,
  'rbac.authorization.k8s.io/RoleBinding': roleBindingColumns,
  'apps/DaemonSet': daemonSetColumns,
  'apps/Deployment': deploymentColumns,
  'apps/ReplicaSet': replicaSetColumns,
  'apps/StatefulSet': statefulSetColumns,
  'policy/PodDisruptionBudget': budgetColumns,
  'events.k8s.io/Event': eventColumns,
  'coordination.k8s.io/Lease': leaseColumns,
};

/** Columns of the other kinds, which the server only stores. */
const defaultColumns: readonly PrintedColumn[] = [nameColumn, ageColumn];
