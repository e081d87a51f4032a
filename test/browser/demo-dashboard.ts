// `nlc demo` with its dashboard, as `npm start` runs it.
import { NlcProcess } from '../support/nlc-process.ts';
import { eventually } from './dashboard-page.ts';

interface DemoDashboard extends AsyncDisposable {
  readonly process: NlcProcess;
  /** The address that the demo prints. */
  readonly url: string;
}

/** Starts the demo; resolves when it has printed the address of its dashboard. */
export async function startDemo(...flags: readonly string[]): Promise<DemoDashboard> {
  const process = new NlcProcess(['demo', ...flags]);
  const address = (): string | undefined => /http:\/\/127\.0\.0\.1:\d+\/dashboard/.exec(process.stdout)?.[0];
  try {
    await eventually('the demo prints the address of its dashboard', () => {
      if (process.hasEnded) throw new Error(`the demo has ended: ${process.stderr}`);
      return Promise.resolve(address() !== undefined);
    });
  } catch (error) {
    await process.kill();
    throw error;
  }
  return { process, url: address() ?? '', [Symbol.asyncDispose]: async () => void (await process.kill()) };
}
