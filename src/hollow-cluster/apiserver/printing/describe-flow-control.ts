/** The group flowcontrol.apiserver.k8s.io (upstream `printFlowSchema`, `printPriorityLevelConfiguration`). */
import type { JsonMap } from '../../../machinery/api/json-map.ts';
import { isMap, mapsAt, numberAt, textAt, valueAt } from '../select-field.ts';
import {
  ageColumn,
  type Cell,
  column,
  mixedColumn,
  nameColumn,
  numberColumn,
  type PrintedColumn,
} from './describe-columns.ts';

export const flowSchemaColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('PriorityLevel', 'Priority level of its requests.', (schema) =>
    textAt(schema, 'spec', 'priorityLevelConfiguration', 'name'),
  ),
  numberColumn('MatchingPrecedence', 'Schemas with a lower number are matched first.', (schema) =>
    numberAt(schema, 'spec', 'matchingPrecedence'),
  ),
  column('DistinguisherMethod', 'How requests are separated into flows.', (schema) => {
    const method = valueAt(schema, 'spec', 'distinguisherMethod');
    return isMap(method) ? textAt(method, 'type') : '<none>';
  }),
  ageColumn,
  column('MissingPL', 'Whether the priority level does not exist; ? if not known.', (schema) => {
    const dangling = mapsAt(schema, 'status', 'conditions').find((each) => textAt(each, 'type') === 'Dangling');
    return dangling === undefined ? '?' : textAt(dangling, 'status');
  }),
];

/** The order of the rows of a table of FlowSchemas: that in which requests are matched, then by name. */
export function compareFlowSchemas(a: JsonMap, b: JsonMap): number {
  const precedence = numberAt(a, 'spec', 'matchingPrecedence') - numberAt(b, 'spec', 'matchingPrecedence');
  if (precedence !== 0) return precedence;
  const [nameA, nameB] = [textAt(a, 'metadata', 'name'), textAt(b, 'metadata', 'name')];
  return nameA < nameB ? -1 : Number(nameA > nameB);
}

export const priorityLevelColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Type', 'Limited or Exempt.', (level) => textAt(level, 'spec', 'type')),
  mixedColumn('NominalConcurrencyShares', 'Share of the concurrency of the server.', (level) =>
    limitOf(level, ['spec', 'limited'], 'nominalConcurrencyShares'),
  ),
  queueColumn('Queues', 'Number of queues.', 'queues'),
  queueColumn('HandSize', 'Number of queues from which one is selected for a flow.', 'handSize'),
  queueColumn('QueueLengthLimit', 'Number of requests that wait in one queue at most.', 'queueLengthLimit'),
  ageColumn,
];

function queueColumn(name: string, description: string, field: string): PrintedColumn {
  return mixedColumn(name, description, (level) =>
    limitOf(level, ['spec', 'limited', 'limitResponse', 'queuing'], field),
  );
}

/** `<none>` if the level has no such limits. */
function limitOf(level: JsonMap, path: readonly string[], field: string): Cell {
  const limits = valueAt(level, ...path);
  return isMap(limits) ? numberAt(limits, field) : '<none>';
}
