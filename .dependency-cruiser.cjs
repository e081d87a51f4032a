/** Architecture as data: who may import whom. Checked by `npm run lint:deps`; explained in docs/ARCHITECTURE.md. */
const MAY_IMPORT = {
  api: [],
  dashboard: [],
  ports: ['api'],
  queueing: [],
  yaml: ['api'],
  supervision: ['api', 'ports', 'queueing'],
  informer: ['api', 'ports', 'queueing', 'supervision'],
  events: ['api', 'ports', 'queueing', 'supervision'],
  election: ['api', 'ports', 'supervision'],
  controller: ['api', 'dashboard', 'ports', 'queueing', 'supervision', 'informer', 'events'],
  kubelet: ['api', 'ports', 'queueing', 'supervision', 'informer', 'events'],
  scheduler: ['api', 'ports', 'queueing', 'supervision', 'informer', 'kubelet'],
  apiserver: ['api', 'ports', 'queueing', 'yaml'],
  manager: ['api', 'ports', 'queueing', 'supervision', 'informer', 'events', 'election', 'controller'],
  simulator: [
    'api',
    'ports',
    'queueing',
    'supervision',
    'informer',
    'events',
    'election',
    'controller',
    'manager',
    'kubelet',
    'apiserver',
  ],
  adapters: ['api', 'ports', 'queueing', 'supervision', 'yaml'],
  cli: [
    'api',
    'dashboard',
    'ports',
    'queueing',
    'supervision',
    'informer',
    'events',
    'election',
    'controller',
    'manager',
    'kubelet',
    'scheduler',
    'apiserver',
    'simulator',
    'adapters',
    'yaml',
  ],
};

/** Types and the states of a node: the servers of the dashboard send what its page reads. */
const WIRE_PROTOCOL = '^src/dashboard/protocol\\.ts$';

const layerRules = Object.entries(MAY_IMPORT).map(([layer, allowed]) => ({
  name: `layer-${layer}`,
  comment: 'Each folder of src imports only folders below it, so that it can be read and tested without those above.',
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: [`^src/(${[layer, ...allowed].join('|')})/`, WIRE_PROTOCOL] },
}));

const PURE =
  '(^|/)(assess|build|classify|correlate|decide|decode|describe|diff|estimate|format|merge|parse|plan|select|to|validate)-[^/]+\\.ts$';
/** Commands, decisions, options and shared types: every stage may import them. */
const MODEL = '^src/controller/model/';

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'no-unknown-folder',
      comment: 'A folder that is missing in the table above would be under no rule at all.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${Object.keys(MAY_IMPORT).join('|')})/` },
      to: {},
    },
    {
      name: 'no-cycle',
      comment: 'Files that import each other can neither be read nor tested one by one.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphan',
      comment: 'A file that nothing imports is dead code; only the program itself is started from outside.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '^src/cli/main\\.ts$' },
      to: {},
    },
    {
      name: 'pure-imports-pure',
      comment: 'A function that calls something with state or effects is not pure; types are erased and do no harm.',
      severity: 'error',
      from: { path: `^src/.*${PURE}` },
      to: {
        pathNot: ['^src/api/', `^src/.*${PURE}`, '^src/queueing/', MODEL, WIRE_PROTOCOL],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'pure-never-touches-node',
      comment: 'Files, sockets, time and chance are effects.',
      severity: 'error',
      from: { path: `^src/.*${PURE}` },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'node-builtins-only-at-the-edge',
      comment: 'What runs on a manual clock and a fake API in tests must not open files or sockets itself.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(adapters|apiserver/(http|data-dir)|cli)/' },
      to: { dependencyTypes: ['core'], pathNot: '^assert$' },
    },
    {
      name: 'packages-only-at-the-edge',
      comment: 'Decisions depend on no package: a new version of one cannot change what the controller does.',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(adapters|apiserver|cli|dashboard|yaml)/' },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'dashboard-imports-two-packages',
      comment: 'Every package of the page is served to browsers and must be embedded in the bundle.',
      severity: 'error',
      from: { path: '^src/dashboard/' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'],
        pathNot: '(^|node_modules/)(preact|uplot)(/|$)',
      },
    },
    {
      name: 'stages-meet-only-in-the-pass',
      comment:
        'Stages do not know each other. Two folders are no stages: snapshot reads all of them, node-work asks labels and tainting whether a node needs work.',
      severity: 'error',
      from: { path: '^src/controller/([^/]+)/', pathNot: '^src/controller/(snapshot|node-work)/' },
      to: { path: '^src/controller/([^/]+)/', pathNot: ['^src/controller/$1/', MODEL] },
    },
    {
      name: 'stages-never-look-up',
      comment:
        'The files on top of controller put stages together; a stage that imported one of them could not be used without it.',
      severity: 'error',
      from: { path: '^src/controller/[^/]+/' },
      to: { path: '^src/controller/[^/]+\\.ts$' },
    },
    {
      name: 'one-hand-writes',
      comment: 'Within the controller only the writer writes: it checks leadership and conflicts in one place.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '^src/(ports|events|election|controller/writer|kubelet/(lease|node-status|pod-status|static-pods|hollow-kubelet|node-manager|fleet|network)|apiserver|scheduler|manager|simulator|adapters|cli)',
      },
      to: { path: '^src/ports/kube-writer\\.ts$' },
    },
    {
      name: 'simulator-opens-nothing',
      comment:
        'What a seed decides happens again only if nothing else has a say: no socket, no timer, no clock. The HTTP part of the API server has all three.',
      severity: 'error',
      from: { path: '^src/simulator/' },
      to: { path: '^src/apiserver/(http|discovery|printing|codec/protobuf-body)' },
    },
    {
      name: 'no-actions-in-a-controller',
      comment: 'Actions exist in simulations only: nothing that runs in a real cluster can reach them.',
      severity: 'error',
      from: { path: '^src/cli/(commands/controller\\.ts$|controller/|pages/|dashboard/)' },
      to: { path: '^src/(cli/(actions|demo|hollow-nodes)|kubelet)/', reachable: true },
    },
    {
      name: 'src-stands-alone',
      comment: 'The image holds src only; tests and tools are not in it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|tools)/' },
    },
    {
      name: 'tools-import-no-tests',
      comment: 'Tools run src and the helpers of tests; what only a test suite needs stays in its folder.',
      severity: 'error',
      from: { path: '^tools/' },
      to: { path: '^test/', pathNot: '^test/support/' },
    },
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
