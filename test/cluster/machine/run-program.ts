// Programs of the machine, run to their end. A failure is an error with what the program said.
import { spawn, type SpawnOptions } from 'node:child_process';

export interface ProgramResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Throws only if it cannot be started. */
export function tryProgram(
  program: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'> & { readonly input?: string } = {},
): Promise<ProgramResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? -1, stdout, stderr }));
    // A program that reads nothing may have ended.
    child.stdin.on('error', () => undefined).end(options.input ?? '');
  });
}

/** What a program prints; an error if it does not end with 0. */
export async function runProgram(
  program: string,
  args: readonly string[],
  options: Parameters<typeof tryProgram>[2] = {},
): Promise<string> {
  const { code, stdout, stderr } = await tryProgram(program, args, options);
  if (code === 0) return stdout;
  throw new Error(`${program} ${args.join(' ')} ended with ${code}: ${(stderr || stdout).trim().slice(-2_000)}`);
}

/** The command line that runs a program in a network namespace. */
export function inNamespace(namespace: string, program: string, args: readonly string[]): readonly [string, string[]] {
  return ['nsenter', [`--net=/run/netns/${namespace}`, program, ...args]];
}
