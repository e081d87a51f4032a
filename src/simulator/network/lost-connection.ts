import { ApiError } from '../../machinery/api/api-error.ts';

/** A connection broke: a read is unavailable, and of a write the outcome is unknown. */
export class LostConnection extends ApiError {
  constructor(isWrite: boolean) {
    super({ reason: isWrite ? 'timeout' : 'unavailable', message: 'the connection was lost' });
  }
}
