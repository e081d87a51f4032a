import type { CommandModule } from './command-io.ts';
import type { FlagDefinition } from './flag-definition.ts';

/** One command as `nlc help` shows it. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  /** The word that must follow, as usage prints it. */
  readonly operand?: string;
  /** Imports the command and everything it needs: only when it is going to run, because that takes a while. */
  load(): Promise<CommandModule>;
  /** Its flags without the rest of it, so that help is quick. */
  loadFlags(): Promise<readonly FlagDefinition[]>;
}

/** Every command but `help`, in the order of help. */
export const commandList: readonly CommandEntry[] = [
  {
    name: 'controller',
    summary: 'Watches nodes, taints the silent ones at the pace of their zone, evicts pods that do not tolerate it',
    load: () => import('./commands/controller.ts'),
    loadFlags: async () => (await import('./controller-flags.ts')).controllerFlags,
  },
  {
    name: 'explain',
    operand: 'node/NAME|pod/NAMESPACE/NAME',
    summary:
      'Asks a running controller about node/NAME or pod/NAMESPACE/NAME: why it acts or does not, what comes next',
    load: () => import('./commands/explain.ts'),
    loadFlags: async () => (await import('./explain-flags.ts')).explainFlags,
  },
  {
    name: 'status',
    summary: 'Asks a running controller who leads, what it sees, which zones are slowed down and what waits',
    load: () => import('./commands/status.ts'),
    loadFlags: async () => (await import('./explain-flags.ts')).explainFlags,
  },
  {
    name: 'shadow',
    summary: 'Asks a controller that runs with --shadow how it compares with the controllers that act in the cluster',
    load: () => import('./commands/shadow.ts'),
    loadFlags: async () => (await import('./explain-flags.ts')).explainFlags,
  },
  {
    name: 'demo',
    summary: 'Plays an outage in one process: an API server, hollow nodes and the controller, on this machine only',
    load: () => import('./commands/demo.ts'),
    loadFlags: async () => (await import('./demo-flags.ts')).demoFlags,
  },
  {
    name: 'apiserver',
    summary: 'Runs the embedded API server, for trying things out and for tests; kubectl works with it',
    load: () => import('./commands/apiserver.ts'),
    loadFlags: async () => (await import('./apiserver-flags.ts')).apiserverFlags,
  },
  {
    name: 'hollow-nodes',
    summary:
      'Runs kubelets without containers against any API server: they register, heartbeat and pretend to run pods',
    load: () => import('./commands/hollow-nodes.ts'),
    loadFlags: async () => (await import('./hollow-nodes-flags.ts')).hollowNodesFlags,
  },
  {
    name: 'version',
    summary: 'Prints the version of this program and of what it runs on',
    load: () => import('./commands/version.ts'),
    loadFlags: () => Promise.resolve([]),
  },
];

export function findCommand(name: string): CommandEntry | undefined {
  return commandList.find((entry) => entry.name === name);
}
