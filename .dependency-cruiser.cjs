/** Architecture as data: who may import whom. Checked by `npm run lint:deps`; explained in docs/ARCHITECTURE.md. */
const MAY_IMPORT = {
  api: [],
  ports: ['api'],
  queueing: [],
  supervision: ['ports', 'queueing'],
  informer: ['api', 'ports', 'queueing'],
  events: ['api', 'ports', 'queueing'],
  metrics: ['ports'],
  election: ['api', 'ports', 'supervision'],
  controller: ['api', 'ports', 'queueing', 'supervision', 'informer', 'events'],
  kubelet: ['api', 'ports', 'queueing', 'supervision', 'informer', 'events'],
  apiserver: ['api', 'ports', 'queueing'],
  adapters: ['api', 'ports'],
  dashboard: ['api', 'ports'],
  cli: [
    'api',
    'ports',
    'queueing',
    'supervision',
    'informer',
    'events',
    'metrics',
    'election',
    'controller',
    'kubelet',
    'apiserver',
    'adapters',
    'dashboard',
  ],
};

const layerRules = Object.entries(MAY_IMPORT).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: [`^src/(${[layer, ...allowed].join('|')})/`] },
}));

const PURE = '(^|/)(assess|classify|correlate|decide|derive|describe|diff|merge|plan)-[^/]+\\.ts$';
const ASSEMBLY_WORDS = '^src/controller/(commands|options|decisions)\\.ts$';

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'no-unknown-folder',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${Object.keys(MAY_IMPORT).join('|')})/` },
      to: {},
    },
    { name: 'no-cycle', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphan',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '^src/cli/main\\.ts$' },
      to: {},
    },
    {
      name: 'pure-imports-pure',
      severity: 'error',
      from: { path: `^src/.*${PURE}` },
      to: {
        pathNot: ['^src/api/', `^src/.*${PURE}`, '^src/queueing/', ASSEMBLY_WORDS],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'pure-never-touches-node',
      severity: 'error',
      from: { path: `^src/.*${PURE}` },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'node-builtins-only-at-the-edge',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(adapters|apiserver/http|dashboard|cli)/' },
      to: { dependencyTypes: ['core'], pathNot: '^assert$' },
    },
    {
      name: 'packages-only-at-the-edge',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(adapters|apiserver|dashboard|cli)/' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'stages-meet-only-in-the-pass',
      severity: 'error',
      from: { path: '^src/controller/([^/]+)/' },
      to: { path: '^src/controller/([^/]+)/', pathNot: '^src/controller/$1/' },
    },
    {
      name: 'stages-never-look-up',
      severity: 'error',
      from: { path: '^src/controller/[^/]+/' },
      to: { path: '^src/controller/[^/]+\\.ts$', pathNot: ASSEMBLY_WORDS },
    },
    {
      name: 'one-hand-writes',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '^src/(ports|events|election|controller/writer|kubelet/(lease|node-status|pod-status|hollow-kubelet|fleet|link)|apiserver|adapters|cli)',
      },
      to: { path: '^src/ports/kube-writer\\.ts$' },
    },
    { name: 'tests-import-src-not-reverse', severity: 'error', from: { path: '^src/' }, to: { path: '^test/' } },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
