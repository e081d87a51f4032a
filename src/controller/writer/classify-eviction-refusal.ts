import type { ApiError, ApiReason } from '../../machinery/api/api-error.ts';
import type { EvictionRefusal } from '../model/commands.ts';

/** The type of the cause with which a budget refuses an eviction (upstream `policyv1.DisruptionBudgetCause`). */
const budgetCause = 'DisruptionBudget';
/** Until Kubernetes 1.36 each budget answers with the first; since 1.37 one whose status cannot be used with the second. */
const budgetReasons: ReadonlySet<ApiReason> = new Set(['too-many-requests', 'forbidden']);

const reasonsWhy: Readonly<Partial<Record<ApiReason, EvictionRefusal>>> = {
  forbidden: 'forbidden',
  'not-found': 'not-served',
  'method-not-allowed': 'not-served',
  'bad-request': 'rejected',
  invalid: 'rejected',
  internal: 'internal',
};

/**
 * Why the API server does not allow this eviction of a pod that exists; undefined for every other failure, such as a server
 * that is overloaded or does not answer.
 */
export function classifyEvictionRefusal(
  error: ApiError,
): { readonly why: EvictionRefusal; readonly message: string } | undefined {
  const budget = budgetMessageOf(error);
  if (budget !== undefined) return { why: 'budget', message: budget };
  const why = reasonsWhy[error.reason];
  return why === undefined ? undefined : { why, message: error.status?.message ?? error.message };
}

/** A Status arrives from the network: a cause of another type is skipped. */
function budgetMessageOf({ reason, status, message }: ApiError): string | undefined {
  const causes: unknown = status?.details?.causes;
  if (!budgetReasons.has(reason) || !Array.isArray(causes)) return undefined;
  const cause: unknown = causes.find((each: unknown) => fieldOf(each, 'reason') === budgetCause);
  if (cause === undefined) return undefined;
  const text = fieldOf(cause, 'message');
  return typeof text === 'string' && text !== '' ? text : message;
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined;
}
