import type { Route } from '../../machinery/page-server/observability-server.ts';
import { describeReport } from '../../controller/shadow/describe-report.ts';
import type { ShadowReport } from '../../controller/shadow/report.ts';
import { pageAnswer, problem } from '../pages/explain-pages.ts';

/** `/shadow`: the comparison so far; 404 if this process does not run in shadow mode. */
export function shadowRoute(report: () => ShadowReport | undefined): Route {
  return {
    path: '/shadow',
    answer: (url) => {
      const page = report();
      if (page === undefined) return problem(404, 'NotFound', 'this controller does not run with --shadow');
      return pageAnswer(url, { json: page, text: () => describeReport(page) });
    },
  };
}
