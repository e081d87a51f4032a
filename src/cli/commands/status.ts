import { pageCommand, statusPage } from '../client/controller-client.ts';

/** `nlc status`: leader, caches, zones, queues and holds of a running controller. */
export const run = pageCommand(statusPage);
