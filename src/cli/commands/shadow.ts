import { pageCommand, shadowPage } from '../client/controller-client.ts';

/** `nlc shadow`: the comparison of a controller that runs with `--shadow` with the active controllers. */
export const run = pageCommand(shadowPage);
