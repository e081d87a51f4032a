import { modernProfile } from '../kubelet/profile.ts';
import type { FlagDefinition } from './flag-definition.ts';
import { formatGoDuration } from './go-duration.ts';
import { logFlags } from './shared-flags.ts';

const fleet = 'Fleet';
const heartbeats = 'Heartbeats';
const api = 'API server';

const namePrefix = /^[a-z0-9]([-a-z0-9]{0,51}[a-z0-9])?$/;

/** Every flag of `nlc hollow-nodes`, as data. Names and defaults that a kubelet has are its own. */
export const hollowNodesFlags = [
  {
    name: 'nodes',
    kind: 'integer',
    group: fleet,
    description: 'How many nodes to be',
    default: 10,
    range: { min: 1, max: 10_000 },
  },
  {
    name: 'zones',
    kind: 'integer',
    group: fleet,
    description: 'Zones the nodes are dealt to, one after another; 0 leaves them without a zone',
    default: 3,
    range: { min: 0, max: 1_000 },
  },
  {
    name: 'region',
    kind: 'text',
    group: fleet,
    description: 'Region of all zones',
    default: 'hollow',
    pattern: namePrefix,
    patternMeaning: 'up to 53 lower-case letters, digits and -',
  },
  {
    name: 'name-prefix',
    kind: 'text',
    group: fleet,
    description: 'Nodes are called PREFIX-0, PREFIX-1 and so on',
    default: 'hollow-node',
    pattern: namePrefix,
    patternMeaning: 'up to 53 lower-case letters, digits and -',
  },
  { name: 'node-labels', kind: 'map', group: fleet, description: 'Labels that every node gets besides its own' },
  {
    name: 'lease-duration',
    kind: 'duration',
    group: heartbeats,
    description: 'How long a lease says it is good for, in whole seconds; it is renewed four times as often',
    default: formatGoDuration(modernProfile.leaseDurationSeconds * 1_000),
    range: { min: 1_000 },
  },
  {
    name: 'node-status-update-frequency',
    kind: 'duration',
    group: heartbeats,
    description: 'How often a node looks at itself',
    default: formatGoDuration(modernProfile.nodeStatusUpdateFrequencyMs),
    range: { min: 100 },
  },
  {
    name: 'node-status-report-frequency',
    kind: 'duration',
    group: heartbeats,
    description: 'How often it reports what it saw though nothing changed',
    default: formatGoDuration(modernProfile.nodeStatusReportFrequencyMs),
    range: { min: 100 },
  },
  {
    name: 'kubeconfig',
    kind: 'text',
    group: api,
    description:
      'File with the server and the credentials; must be given, because pods sent to hollow nodes run nowhere',
  },
  { name: 'context', kind: 'text', group: api, description: 'Context of the kubeconfig, instead of its current one' },
  {
    name: 'kube-api-qps',
    kind: 'number',
    group: api,
    description: 'Requests per second of all nodes together, watches not counted; 0 is no limit',
    default: 0,
    range: { min: 0 },
  },
  {
    name: 'kube-api-burst',
    kind: 'integer',
    group: api,
    description: 'Requests that may go at once before the rate holds',
    default: 100,
    range: { min: 1 },
  },
  ...logFlags,
] as const satisfies readonly FlagDefinition[];
