// Actions on a simulated cluster, and their page. Only processes that simulate a cluster may import this folder; a controller
// has no actions.
import { type Answer, type Route, textAnswer } from '../../../machinery/page-server/observability-server.ts';
import { jsonAnswer, problem } from '../../pages/explain-pages.ts';
import { type Action, type ActionKind, readAction } from './action-schema.ts';

/** Result of an action, or the reason why nothing was done: one sentence. */
export type ActionResult = { readonly text: string } | { readonly conflict: string };

export interface Actions {
  /** Actions that the dashboard offers. */
  readonly kinds: readonly ActionKind[];
  act(action: Action): ActionResult;
}

/** Headers of the answers, which are JSON and text only. */
const headers = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
};

/** `POST /dashboard/actions`. */
export function actionRoute(actions: Actions): Route {
  return {
    path: '/dashboard/actions',
    headers,
    answer: () => ({ ...textAnswer(405, 'method not allowed; accepted: POST\n'), headers: { allow: 'POST' } }),
    act: ({ method, body }) =>
      method === 'POST' ? act(actions, body) : problem(405, 'MethodNotAllowed', 'method: must be POST'),
  };
}

function act(actions: Actions, body: unknown): Answer {
  const read = readAction(body, actions.kinds);
  if ('problems' in read) return problem(400, 'BadRequest', read.problems.join('; '));
  const result = carryOut(actions, read.value);
  return 'text' in result ? jsonAnswer(200, result) : problem(409, 'Conflict', result.conflict);
}

/** A RangeError reports an action that is not possible, as in `POST /faults`. */
function carryOut(actions: Actions, action: Action): ActionResult {
  try {
    return actions.act(action);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { conflict: error.message };
  }
}
