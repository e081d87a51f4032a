import { dispatch } from '../../src/cli/commands/dispatch.ts';

/** Runs `nlc` in this process, without environment variables. */
export async function nlc(...argv: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const said = { out: '', err: '' };
  const code = await dispatch(argv, {
    stdout: (text) => void (said.out += text),
    stderr: (text) => void (said.err += text),
    env: {},
    signal: new AbortController().signal,
  });
  return { code, ...said };
}
