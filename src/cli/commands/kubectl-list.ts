import { outputFlags } from '../client/flags.ts';
import type { FlagDefinition } from '../flags/flag-definition.ts';
import { topDisplayFlags } from '../top/flags.ts';
import type { Catalog, CommandEntry } from './command-entry.ts';
import { clusterFlags, clusterPageFlags, clusterTopFlags, dashboardFlags } from '../kubectl/flags.ts';

const commands: readonly CommandEntry[] = [
  {
    name: 'status',
    summary: 'Shows the state of the leader: caches, zones, eviction rates, queues and holds',
    load: () => import('../kubectl/commands.ts').then(({ status }) => status),
    loadFlags: () => Promise.resolve(clusterPageFlags),
  },
  {
    name: 'explain',
    operand: 'node/NAME|pod/NAMESPACE/NAME',
    completes: 'subject',
    summary: 'Shows what the leader did and will do with node/NAME or pod/NAMESPACE/NAME, and the reasons',
    load: () => import('../kubectl/commands.ts').then(({ explain }) => explain),
    loadFlags: () => Promise.resolve(clusterPageFlags),
  },
  {
    name: 'shadow',
    summary: 'Shows how a controller in shadow mode compares with the active controllers of the cluster',
    load: () => import('../kubectl/commands.ts').then(({ shadow }) => shadow),
    loadFlags: () => Promise.resolve(clusterPageFlags),
  },
  {
    name: 'top',
    summary: 'Shows zones, nodes that are not ready, pods that are due first and holds, refreshed in place',
    load: () => import('./top.ts').then(({ kubectlTop }) => kubectlTop),
    loadFlags: () => Promise.resolve(clusterTopFlags),
  },
  {
    name: 'dashboard',
    summary: 'Serves the dashboard of the leader on a port of loopback, until interrupted',
    load: () => import('../kubectl/commands.ts').then(({ dashboard }) => dashboard),
    loadFlags: () => Promise.resolve(dashboardFlags),
  },
  {
    name: 'version',
    summary: 'Prints the version of this plugin, of Node.js and the platform',
    load: () => import('./help.ts').then(({ version }) => version),
    loadFlags: () => Promise.resolve([]),
  },
];

/** The commands of the kubectl plugin. */
export const kubectlCatalog: Catalog = {
  program: 'kubectl node-lifecycle',
  title: 'the node lifecycle controller of the cluster: what it does, what is held, what happens next and when',
  commands,
  sharedFlags: clusterFlags,
};

/** Flags of all commands, for `nlc help kubectl` and the flag reference. */
export const kubectlFlags: readonly FlagDefinition[] = [
  ...outputFlags,
  ...clusterFlags,
  ...topDisplayFlags,
  ...dashboardFlags.filter(({ group }) => group === 'Dashboard'),
];
