import { ApiError } from '../../src/machinery/api/api-error.ts';
import type { ControllerWorld } from './controller-world.ts';

/** The Eviction API of a world: a PodDisruptionBudget of all pods, which allows no disruption at first. */
export class Budget {
  allows = false;
  /** When each request arrived, in seconds since the world began. */
  readonly asked: number[] = [];
  /** What it answers while it does not allow. */
  error: ApiError = budgetError();

  constructor(world: ControllerWorld) {
    world.beforeWrite = ({ verb }) => {
      if (verb !== 'evict') return Promise.resolve();
      this.asked.push(world.seconds());
      return this.allows ? Promise.resolve() : Promise.reject(this.error);
    };
  }
}

export function budgetError(retryAfterMs?: number): ApiError {
  const message = 'The disruption budget web needs 1 healthy pods and has 1 currently';
  return new ApiError({
    reason: 'too-many-requests',
    code: 429,
    message: 'Cannot evict pod as it would violate the budget of the pod',
    retryAfterMs,
    status: { reason: 'TooManyRequests', details: { causes: [{ reason: 'DisruptionBudget', message }] } },
  });
}
