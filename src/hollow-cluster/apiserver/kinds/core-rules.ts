/** Configuration of the core group (upstream `pkg/registry/core`). */
import type { KindRules } from '../registry/plain-strategy.ts';
import { validateConfigMap, validateConfigMapChange } from './data-validation.ts';

/** By the table of the kind. */
export const coreRules: Readonly<Record<string, KindRules>> = {
  configmaps: { validateSpec: validateConfigMap, validateChange: validateConfigMapChange },
  serviceaccounts: { returnsDeleted: true },
};
