// `npm run check`: everything a commit must pass, in order, a header for each step; stops at the first failure.
// `--without-tests` leaves out the tests. `--staged` checks format and lint of the staged files only, and runs of the tests
// only those of the architecture, which take seconds.
import { execFileSync, spawnSync } from 'node:child_process';

interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

const flags = new Set(process.argv.slice(2));
const script = (name: string): readonly string[] => ['npm', 'run', '--silent', name];

const unchangedByStaging: readonly Step[] = [
  { name: 'types', command: script('typecheck') },
  { name: 'import rules', command: script('lint:deps') },
  { name: 'unused exports', command: script('lint:exports') },
];
const checks: readonly Step[] = [
  { name: 'format', command: script('format:check') },
  { name: 'lint', command: script('lint') },
  ...unchangedByStaging,
];
const tests: readonly Step[] = [
  { name: 'unit, scenario and architecture tests, coverage of pure files', command: script('test:unit') },
  { name: 'contract and end-to-end tests', command: script('test:world') },
];

function stagedSteps(): readonly Step[] {
  const listed = execFileSync('git', ['diff', '--cached', '--name-only', '--diff-filter=d'], { encoding: 'utf8' });
  const files = listed.split('\n').filter((path) => path !== '');
  const sources = files.filter((path) => /^(?:src|test|tools)\/.*\.ts$/u.test(path));
  return [
    {
      name: 'format',
      command: ['biome', 'format', '--no-errors-on-unmatched', '--files-ignore-unknown=true', ...files],
    },
    ...(sources.length === 0
      ? []
      : [{ name: 'lint', command: ['oxlint', '--type-aware', '--deny-warnings', ...sources] }]),
    ...unchangedByStaging,
    { name: 'architecture tests', command: ['node', 'test/run.ts', 'test/architecture'] },
  ];
}

const withTests = flags.has('--without-tests') ? [] : tests;
for (const { name, command } of flags.has('--staged') ? stagedSteps() : [...checks, ...withTests]) {
  console.log(`\n=== ${name}`);
  const [program = '', ...args] = command;
  const startedAtMs = performance.now();
  const { status } = spawnSync(program, args, { stdio: 'inherit' });
  if (status !== 0) {
    console.error(`\n${name}: failed`);
    process.exit(status ?? 1);
  }
  console.log(`${name}: passed in ${((performance.now() - startedAtMs) / 1_000).toFixed(1)} s`);
}
