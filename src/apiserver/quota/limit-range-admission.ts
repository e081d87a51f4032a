/** Refuses new pods, and claims, that are not within the LimitRanges of their namespace. */
import { forbidden } from '../api-errors/api-errors.ts';
import { resourceName } from '../registry/request-target.ts';
import type { CheckedWrite, WriteAdmission } from '../registry/write-admission.ts';
import type { Draft } from '../storage/stored-object.ts';
import type { VersionedStore } from '../storage/versioned-store.ts';
import { limitRangesIn } from './limit-defaults.ts';
import { validateClaimLimits, validatePodLimits } from './validate-limits.ts';

type Validate = (object: Draft, range: Draft) => readonly string[];

export class LimitRangeAdmission implements WriteAdmission {
  readonly #store: Pick<VersionedStore, 'table'>;

  constructor(store: Pick<VersionedStore, 'table'>) {
    this.#store = store;
  }

  /** Throws a 403 ApiError for the first LimitRange that does not allow the write. */
  admit(write: CheckedWrite): () => void {
    const validate = rulesFor(write);
    const { target, draft } = write;
    for (const range of validate === undefined ? [] : limitRangesIn(this.#store, target.namespace ?? '')) {
      const problems = [...new Set(validate?.(draft, range))];
      const why = problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`;
      if (problems.length > 0) throw forbidden(resourceName(target), draft.metadata.name ?? '', why ?? '');
    }
    return () => {};
  }
}

/** The resources of a pod do not change by an update; what is being deleted is left alone. */
function rulesFor({ target, before }: CheckedWrite): Validate | undefined {
  if (target.endpoint !== '' || before?.metadata.deletionTimestamp !== undefined) return undefined;
  if (target.strategy.table === 'persistentvolumeclaims') return validateClaimLimits;
  return target.strategy.table === 'pods' && before === undefined ? validatePodLimits : undefined;
}
