import type { Catalog, CommandEntry, CommandGroup } from './command-entry.ts';

/** All commands except `help`, in the order of `nlc help`. */
export const commandList: readonly (CommandEntry | CommandGroup)[] = [
  {
    name: 'controller',
    summary: 'Monitors node health, taints unhealthy nodes at the rate of their zone, evicts pods without a toleration',
    load: () => import('./controller.ts'),
    loadFlags: async () => (await import('../controller/flags.ts')).controllerFlags,
  },
  {
    name: 'explain',
    operand: 'node/NAME|pod/NAMESPACE/NAME',
    completes: 'subject',
    summary: 'Shows what a running controller did and will do with node/NAME or pod/NAMESPACE/NAME, and the reasons',
    load: () => import('./page-commands.ts').then(({ explain }) => explain),
    loadFlags: async () => (await import('../client/flags.ts')).explainFlags,
  },
  {
    name: 'status',
    summary: 'Shows the state of a running controller: leader, caches, zones, eviction rates and queues',
    load: () => import('./page-commands.ts').then(({ status }) => status),
    loadFlags: async () => (await import('../client/flags.ts')).explainFlags,
  },
  {
    name: 'top',
    summary: 'Shows zones, nodes that are not ready, pods that are due first and holds, refreshed in place',
    load: () => import('./top.ts').then(({ top }) => top),
    loadFlags: async () => (await import('../top/flags.ts')).topFlags,
  },
  {
    name: 'kubectl',
    operand: 'COMMAND',
    summary:
      'The kubectl plugin: status, explain, shadow, top and dashboard of the leader in the cluster of a kubeconfig',
    group: true,
    loadCatalog: async () => (await import('./kubectl-list.ts')).kubectlCatalog,
    loadFlags: async () => (await import('./kubectl-list.ts')).kubectlFlags,
  },
  {
    name: 'validate',
    operand: 'FILE',
    completes: 'file',
    summary:
      'Checks a config file of the controller, its policies included, or NodeLifecyclePolicy manifests, and prints errors and warnings',
    load: () => import('./validate.ts'),
    loadFlags: async () => (await import('./flags.ts')).validateFlags,
  },
  {
    name: 'whatif',
    summary:
      'Shows what a config file with policies would change in a cluster, or in a recorded trace, before it is used',
    load: () => import('./whatif.ts'),
    loadFlags: async () => (await import('./flags.ts')).whatifFlags,
  },
  {
    name: 'report',
    summary: 'Reports faults, false positives and the time until recovery, from Prometheus or a recorded trace',
    load: () => import('./report.ts'),
    loadFlags: async () => (await import('./flags.ts')).reportFlags,
  },
  {
    name: 'shadow',
    summary: 'Shows how a controller that runs with --shadow compares with the active controllers of the cluster',
    load: () => import('./page-commands.ts').then(({ shadow }) => shadow),
    loadFlags: async () => (await import('../client/flags.ts')).explainFlags,
  },
  {
    name: 'demo',
    summary: 'Simulates an outage in one local process with an API server, hollow nodes and the controller',
    load: () => import('./demo.ts'),
    loadFlags: async () => (await import('../simulation/demo/flags.ts')).demoFlags,
  },
  {
    name: 'apiserver',
    summary:
      'Runs the embedded API server for tests and experiments; kubectl works with it. What it refuses needs kube-apiserver: nlc demo --control-plane',
    load: () => import('./apiserver.ts'),
    loadFlags: async () => (await import('../simulation/apiserver/flags.ts')).apiserverFlags,
  },
  {
    name: 'hollow-nodes',
    summary: 'Runs simulated kubelets against any API server: they register, send heartbeats and simulate pods',
    load: () => import('./hollow-nodes.ts'),
    loadFlags: async () => (await import('../simulation/hollow-nodes/flags.ts')).hollowNodesFlags,
  },
  {
    name: 'simulate',
    operand: 'SCENARIO|--trace=FILE',
    completes: 'file',
    summary:
      'Simulates a scenario of a cluster and its faults, and reports what the controller does under its settings',
    load: () => import('./simulate.ts'),
    loadFlags: async () => (await import('./flags.ts')).simulateFlags,
  },
  {
    name: 'record',
    summary: 'Records heartbeats, conditions, zones, taints and pod counts of a cluster, for nlc simulate --trace',
    load: () => import('./record.ts'),
    loadFlags: async () => (await import('./flags.ts')).recordFlags,
  },
  {
    name: 'completion',
    operand: 'bash|zsh|fish',
    completes: 'shell',
    summary: 'Prints a script with which a shell completes commands, flags, values and node names',
    load: () => import('../completion/completion-scripts.ts').then(({ completion }) => completion),
    loadFlags: () => Promise.resolve([]),
  },
  {
    name: 'version',
    summary: 'Prints the version of nlc, of Node.js and the platform',
    load: () => import('./help.ts').then(({ version }) => version),
    loadFlags: () => Promise.resolve([]),
  },
];

export const nlcCatalog: Catalog = {
  program: 'nlc',
  title:
    'node lifecycle controller: monitors node health, taints unhealthy nodes and evicts their pods at a limited rate',
  commands: commandList,
};
