/** ConfigMaps, Secrets, ServiceAccounts and Services (upstream `printConfigMap` and its neighbours). */
import { listOf, type JsonMap } from '../../api/json-map.ts';
import { mapAt, mapsAt, numberAt, textAt, valueAt } from '../select-field.ts';
import { ageColumn, column, nameColumn, numberColumn, type PrintedColumn, wideColumn } from './describe-columns.ts';

function dataColumn(...fields: readonly string[]): PrintedColumn {
  return numberColumn('Data', 'Number of entries.', (object) =>
    fields.reduce((sum, field) => sum + Object.keys(mapAt(object, field)).length, 0),
  );
}

export const configMapColumns: readonly PrintedColumn[] = [nameColumn, dataColumn('data', 'binaryData'), ageColumn];

export const secretColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Type', 'What the entries are for.', (secret) => textAt(secret, 'type')),
  dataColumn('data'),
  ageColumn,
];

export const serviceAccountColumns: readonly PrintedColumn[] = [nameColumn, ageColumn];

export const serviceColumns: readonly PrintedColumn[] = [
  nameColumn,
  column('Type', 'How the Service is exposed.', (service) => textAt(service, 'spec', 'type')),
  column(
    'Cluster-IP',
    'Address within the cluster.',
    (service) => textsAt(service, 'spec', 'clusterIPs')[0] ?? '<none>',
  ),
  column('External-IP', 'Addresses outside of the cluster.', describeExternalAddress),
  column('Port(s)', 'Ports and protocols.', describePorts),
  ageColumn,
  wideColumn('Selector', 'Labels of its pods.', (service) => {
    const labels = Object.entries(mapAt(service, 'spec', 'selector')).map(([key, value]) => `${key}=${String(value)}`);
    return labels.sort().join(',') || '<none>';
  }),
];

function describeExternalAddress(service: JsonMap): string {
  const given = textsAt(service, 'spec', 'externalIPs');
  const type = textAt(service, 'spec', 'type');
  if (type === 'ExternalName') return textAt(service, 'spec', 'externalName');
  if (type !== 'LoadBalancer') return given.join(',') || '<none>';
  const balancers = mapsAt(service, 'status', 'loadBalancer', 'ingress').map(
    (ingress) => textAt(ingress, 'ip') || textAt(ingress, 'hostname'),
  );
  return [...balancers, ...given].join(',') || '<pending>';
}

function describePorts(service: JsonMap): string {
  const ports = mapsAt(service, 'spec', 'ports').map((port) => {
    const nodePort = numberAt(port, 'nodePort');
    return `${numberAt(port, 'port')}${nodePort > 0 ? `:${nodePort}` : ''}/${textAt(port, 'protocol')}`;
  });
  return ports.join(',') || '<none>';
}

function textsAt(object: JsonMap, ...path: readonly string[]): readonly string[] {
  return listOf(valueAt(object, ...path)).map(String);
}
