/** Feature gates that are off in some of the Kubernetes versions under test. */
import { byVersion } from '../../support/by-version.ts';

/** Why streaming lists are not served: the feature gate WatchList is off by default in 1.33. */
export const noStreaming = byVersion<string | false>({
  '1.33': 'the feature gate WatchList is off: watch.long.test.ts expects the rejection',
  '1.34': false,
});
