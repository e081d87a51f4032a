import type { CommandModule } from '../io/command-io.ts';
import type { FlagDefinition } from '../flags/flag-definition.ts';

/** One command of `nlc help`. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** The required argument, as the usage line shows it. */
  readonly operand?: string;
  /** Imports the command and its dependencies. Called only when the command runs, because the import is slow. */
  load(): Promise<CommandModule>;
  /** Imports the flags only, so that help is fast. */
  loadFlags(): Promise<readonly FlagDefinition[]>;
}

/** All commands except `help`, in the order of `nlc help`. */
export const commandList: readonly CommandEntry[] = [
  {
    name: 'controller',
    summary: 'Monitors node health, taints unhealthy nodes at the rate of their zone, evicts pods without a toleration',
    load: () => import('./controller.ts'),
    loadFlags: async () => (await import('../controller/flags.ts')).controllerFlags,
  },
  {
    name: 'explain',
    operand: 'node/NAME|pod/NAMESPACE/NAME',
    summary: 'Shows what a running controller did and will do with node/NAME or pod/NAMESPACE/NAME, and the reasons',
    load: () => import('./explain.ts'),
    loadFlags: async () => (await import('../client/flags.ts')).explainFlags,
  },
  {
    name: 'status',
    summary: 'Shows the state of a running controller: leader, caches, zones, eviction rates and queues',
    load: () => import('./status.ts'),
    loadFlags: async () => (await import('../client/flags.ts')).explainFlags,
  },
  {
    name: 'validate',
    operand: 'FILE',
    summary:
      'Checks a config file of the controller, its policies included, or NodeLifecyclePolicy manifests, and prints errors and warnings',
    load: () => import('./validate.ts'),
    loadFlags: async () => (await import('../validate/flags.ts')).validateFlags,
  },
  {
    name: 'whatif',
    summary:
      'Shows what a config file with policies would change in a cluster, or in a recorded trace, before it is used',
    load: () => import('./whatif.ts'),
    loadFlags: async () => (await import('../whatif/flags.ts')).whatifFlags,
  },
  {
    name: 'shadow',
    summary: 'Shows how a controller that runs with --shadow compares with the active controllers of the cluster',
    load: () => import('./shadow.ts'),
    loadFlags: async () => (await import('../client/flags.ts')).explainFlags,
  },
  {
    name: 'demo',
    summary: 'Simulates an outage in one local process with an API server, hollow nodes and the controller',
    load: () => import('./demo.ts'),
    loadFlags: async () => (await import('../demo/flags.ts')).demoFlags,
  },
  {
    name: 'apiserver',
    summary: 'Runs the embedded in-memory API server for tests and experiments; kubectl works with it',
    load: () => import('./apiserver.ts'),
    loadFlags: async () => (await import('../apiserver/flags.ts')).apiserverFlags,
  },
  {
    name: 'hollow-nodes',
    summary: 'Runs simulated kubelets against any API server: they register, send heartbeats and simulate pods',
    load: () => import('./hollow-nodes.ts'),
    loadFlags: async () => (await import('../hollow-nodes/flags.ts')).hollowNodesFlags,
  },
  {
    name: 'simulate',
    operand: 'SCENARIO|--trace=FILE',
    summary:
      'Simulates a scenario of a cluster and its faults, and reports what the controller does under its settings',
    load: () => import('./simulate.ts'),
    loadFlags: async () => (await import('../simulate/flags.ts')).simulateFlags,
  },
  {
    name: 'record',
    summary: 'Records heartbeats, conditions, zones, taints and pod counts of a cluster, for nlc simulate --trace',
    load: () => import('./record.ts'),
    loadFlags: async () => (await import('../record/flags.ts')).recordFlags,
  },
  {
    name: 'version',
    summary: 'Prints the version of nlc, of Node.js and the platform',
    load: () => import('./version.ts'),
    loadFlags: () => Promise.resolve([]),
  },
];

export function findCommand(name: string): CommandEntry | undefined {
  return commandList.find((entry) => entry.name === name);
}
