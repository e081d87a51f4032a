// Shadow mode in a process: what stands where the writing would be, and what the process shows of it.
import type { HttpKubeApi } from '../adapters/http-kube-api.ts';
import type { Route } from '../adapters/observability-server.ts';
import { ApiError } from '../api/api-error.ts';
import type { NodeLifecycleOptions } from '../controller/node-lifecycle.ts';
import { describeReport } from '../controller/shadow/describe-report.ts';
import type { ShadowReport } from '../controller/shadow/report.ts';
import type { EventRecorder } from '../ports/event-recorder.ts';
import { pageAnswer, problem } from './explain-pages.ts';
import type { HealthCheck } from './health-pages.ts';

/** Tells nobody: an event is a write. */
export const silentRecorder: EventRecorder = { record: () => undefined };

/** Where writes would leave the process. It is shut; whoever tries it all the same has found a fault of ours. */
export class ShutDoor {
  #tries = 0;

  /** For the transport, which asks before it sends a write. */
  readonly mayWrite = (): boolean => {
    this.#tries += 1;
    return false;
  };

  /** Fails as soon as anything was tried; nothing was sent even then. */
  check(): HealthCheck {
    const problem = (): string | undefined =>
      this.#tries === 0 ? undefined : `${this.#tries} writes were tried, and none was sent`;
    return { name: 'shadow-writes-nothing', problem };
  }

  /** What the stages get of the API: the reading. */
  readingOnly(api: Pick<HttpKubeApi, 'get'>): NodeLifecycleOptions['api'] {
    const refuse = (): Promise<never> => {
      this.mayWrite();
      return Promise.reject(new ApiError({ reason: 'aborted', message: 'nothing is written in shadow mode' }));
    };
    return { get: (resource, name, options) => api.get(resource, name, options), patch: refuse, delete: refuse };
  }
}

/** `/shadow`: the comparison so far; where there is none, that this process acts itself. */
export function shadowRoute(report: () => ShadowReport | undefined): Route {
  return {
    path: '/shadow',
    answer: (url) => {
      const page = report();
      if (page === undefined)
        return problem(404, 'NotFound', 'this controller acts; one that compares runs with --shadow');
      return pageAnswer(url, { json: page, text: () => describeReport(page) });
    },
  };
}
