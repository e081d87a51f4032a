/** Name of the index of pods by node, which every pod store of the controller must have. */
export const podsByNode = 'node';
/** Name of the index of DaemonSets by namespace, which their store must have. */
export const daemonSetsByNamespace = 'namespace';
/** Name of the index of Evictions by their target, which their store must have. */
export const evictionsByTarget = 'target';
