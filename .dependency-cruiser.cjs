/** Architecture as data: who may import whom. Checked by `npm run lint:deps`; explained in docs/ARCHITECTURE.md. */
/** Rooms of src. The controller and the hollow cluster know each other only by the API of Kubernetes. */
const ROOMS = {
  machinery: [],
  controller: ['machinery'],
  dashboard: ['machinery', 'controller'],
  policy: ['machinery', 'controller'],
  manager: ['machinery', 'controller', 'dashboard', 'policy'],
  'hollow-cluster': ['machinery'],
  simulator: ['machinery', 'controller', 'manager', 'hollow-cluster'],
  cli: ['machinery', 'dashboard', 'controller', 'policy', 'manager', 'hollow-cluster', 'simulator'],
};

const PORTS = ['api', 'ports', 'queueing', 'supervision'];
/** Folders of machinery that open files and sockets; they may import each other. */
const EDGE = ['adapters', 'kube-client', 'kubeconfig', 'page-server', 'wire'];
const MACHINERY = {
  api: [],
  ports: ['api'],
  queueing: [],
  yaml: ['api'],
  supervision: ['api', 'ports', 'queueing'],
  informer: PORTS,
  events: PORTS,
  election: PORTS,
  ...Object.fromEntries(EDGE.map((folder) => [folder, [...PORTS, ...EDGE, 'yaml']])),
};
const HOLLOW_CLUSTER = { apiserver: [], kubelet: [], scheduler: ['kubelet'] };

/** What each room may use of machinery, if not all of it: the rest opens sockets, or belongs to one process. */
const OF_MACHINERY = {
  'controller/': [...PORTS, 'informer', 'events'],
  'dashboard/': [...PORTS, 'informer'],
  'manager/': [...PORTS, 'informer', 'events', 'election'],
  'policy/': [...PORTS, 'informer', 'yaml'],
  'hollow-cluster/apiserver/': ['api', 'ports', 'queueing', 'yaml', 'page-server'],
  'hollow-cluster/kubelet/': [...PORTS, 'informer', 'events'],
  'hollow-cluster/scheduler/': [...PORTS, 'informer'],
  'simulator/': [...PORTS, 'informer', 'events', 'election'],
};

/** The states of a node, and the types of the pages of explanations: what clients of a controller read. */
const PAGE_TYPES = '^src/controller/report/(classify-node-state|pages)\\.ts$';

/** Rooms whose folders have a table of their own. */
const nested = { machinery: MACHINERY, 'hollow-cluster': HOLLOW_CLUSTER };

function rulesOf(table, parent) {
  return Object.entries(table).map(([folder, allowed]) => ({
    name: `folder-${parent}${folder}`,
    comment: 'Each folder imports only folders below it, so that it can be read and tested without those above.',
    severity: 'error',
    from: { path: `^src/${parent}${folder}/` },
    to: { path: `^src/${parent}`, pathNot: `^src/${parent}(${[folder, ...allowed].join('|')})/` },
  }));
}

const machineryRules = Object.entries(OF_MACHINERY).map(([folder, allowed]) => ({
  name: `machinery-of-${folder}`,
  comment: 'What decides runs in virtual time: it uses no part of the machinery that opens sockets or files.',
  severity: 'error',
  from: { path: `^src/${folder}` },
  to: { path: '^src/machinery/', pathNot: `^src/machinery/(${allowed.join('|')})/` },
}));

const PURE =
  '(^|/)(assess|build|classify|correlate|decide|decode|describe|diff|estimate|format|merge|parse|plan|select|to|validate)-[^/]+\\.ts$';
/** Commands, decisions, options and shared types: every stage may import them. */
const MODEL = '^src/controller/model/';
/** The one table of what holds an act: every stage and every report may ask it. */
const HOLDS = '^src/controller/holds/';

module.exports = {
  forbidden: [
    ...rulesOf(ROOMS, ''),
    ...rulesOf(MACHINERY, 'machinery/'),
    ...rulesOf(HOLLOW_CLUSTER, 'hollow-cluster/'),
    ...machineryRules,
    {
      name: 'no-unknown-folder',
      comment: 'A folder that is missing in the table above would be under no rule at all.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: [
          `^src/(${Object.keys(ROOMS)
            .filter((room) => !(room in nested))
            .join('|')})/`,
          ...Object.entries(nested).map(([room, table]) => `^src/${room}/(${Object.keys(table).join('|')})/`),
        ],
      },
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
        pathNot: [
          '^src/machinery/api/',
          `^src/.*${PURE}`,
          '^src/machinery/queueing/',
          MODEL,
          '^src/dashboard/protocol\\.ts$',
        ],
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
      from: {
        path: '^src/',
        pathNot: `^src/(machinery/(${EDGE.join('|')})|hollow-cluster/apiserver/(http|data-dir)|cli)/`,
      },
      to: { dependencyTypes: ['core'], pathNot: '^assert$' },
    },
    {
      name: 'packages-only-at-the-edge',
      comment: 'Decisions depend on no package: a new version of one cannot change what the controller does.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: `^src/(machinery/(${EDGE.join('|')}|yaml)|hollow-cluster/apiserver|policy/schema|cli|dashboard)/`,
      },
      to: { dependencyTypes: ['npm', 'npm-dev', 'npm-optional', 'npm-peer', 'npm-no-pkg', 'npm-unknown'] },
    },
    {
      name: 'page-imports-no-server',
      comment: 'A browser loads the page; what serves it reads the stages of a controller.',
      severity: 'error',
      from: { path: '^src/dashboard/', pathNot: '^src/dashboard/server/' },
      to: { path: '^src/', pathNot: ['^src/dashboard/(?!server/)', PAGE_TYPES] },
    },
    {
      name: 'page-shares-types-only',
      comment: 'What the page imports at run time is served to browsers.',
      severity: 'error',
      from: { path: '^src/dashboard/', pathNot: '^src/dashboard/server/' },
      to: { path: PAGE_TYPES, dependencyTypesNot: ['type-only'] },
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
        'Stages do not know each other. Two folders are no stages: report reads all of them, node-work asks labels and tainting whether a node needs work.',
      severity: 'error',
      from: { path: '^src/controller/([^/]+)/', pathNot: '^src/controller/(report|node-work)/' },
      to: { path: '^src/controller/([^/]+)/', pathNot: ['^src/controller/$1/', MODEL, HOLDS] },
    },
    {
      name: 'stages-never-look-up',
      comment:
        'The files on top of controller put stages together; a stage that imported one of them could not be used without it.',
      severity: 'error',
      from: { path: '^src/controller/[^/]+/', pathNot: '^src/controller/report/' },
      to: { path: '^src/controller/[^/]+\\.ts$' },
    },
    {
      name: 'reports-know-stages-by-type',
      comment:
        'Reports read all stages: their list is written once, where they are put together, and no report builds one.',
      severity: 'error',
      from: { path: '^src/controller/report/' },
      to: { path: '^src/controller/[^/]+\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'one-hand-writes',
      comment: 'Within the controller only the writer writes: it checks leadership and conflicts in one place.',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot:
          '^src/(machinery|policy/objects|controller/writer|hollow-cluster/(kubelet/(lease|node-status|pod-status|static-pods|hollow-kubelet|node-manager|fleet|network)|apiserver|scheduler)|manager|simulator|cli)',
      },
      to: { path: '^src/machinery/ports/kube-writer\\.ts$' },
    },
    {
      name: 'simulator-opens-nothing',
      comment:
        'What a seed decides happens again only if nothing else has a say: no socket, no timer, no clock. The HTTP part of the API server has all three.',
      severity: 'error',
      from: { path: '^src/simulator/' },
      to: { path: '^src/hollow-cluster/apiserver/(http|discovery|printing|codec/protobuf-body)' },
    },
    {
      name: 'no-actions-in-a-controller',
      comment: 'Actions exist in simulations only: nothing that runs in a real cluster can reach them.',
      severity: 'error',
      from: { path: '^src/cli/(commands/controller\\.ts$|controller/|pages/|dashboard/)' },
      to: { path: '^src/(cli/simulation|hollow-cluster|simulator)/', reachable: true },
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
