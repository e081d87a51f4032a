/** The node status's view of volumes (the part of kubelet's `VolumeManager` that a status needs). */
export interface NodeVolumes {
  /** False until the volumes in use are known; until then the stored list is not changed. */
  hasSynced(): boolean;
  /** By their unique names, such as `kubernetes.io/csi/driver^volume`. */
  volumesInUse(): readonly string[];
  /** The API server has these as in use: they may be mounted now. */
  markReportedInUse(volumes: readonly string[]): void;
}

/** For a node without attachable volumes. Shared by all of them. */
export const noVolumes: NodeVolumes = { hasSynced: () => true, volumesInUse: () => [], markReportedInUse() {} };
