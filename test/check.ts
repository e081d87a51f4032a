// `npm run check`: everything a commit must pass, in order, a header for each step; stops at the first failure.
// With `--without-tests` the tests are left to whoever runs them anyway; with `--staged`, nothing that takes long.
import { spawnSync } from 'node:child_process';

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  readonly isTest?: boolean;
  readonly isSlow?: boolean;
}

const steps: readonly Step[] = [
  { name: 'format', command: ['npm', 'run', '--silent', 'format:check'] },
  { name: 'types', command: ['npm', 'run', '--silent', 'typecheck'] },
  { name: 'lint', command: ['npm', 'run', '--silent', 'lint'] },
  { name: 'import rules', command: ['npm', 'run', '--silent', 'lint:deps'] },
  { name: 'unit and architecture tests', command: ['npm', 'run', '--silent', 'test:unit'], isTest: true },
  {
    name: 'contract, scenario and end-to-end tests',
    command: ['npm', 'run', '--silent', 'test:world'],
    isTest: true,
    isSlow: true,
  },
];

const flags = new Set(process.argv.slice(2));
const wanted = steps.filter(
  (step) => !(step.isTest === true && flags.has('--without-tests')) && !(step.isSlow === true && flags.has('--staged')),
);

for (const { name, command } of wanted) {
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
