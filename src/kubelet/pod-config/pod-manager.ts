import type { Pod } from '../../api/pod.ts';
import { SparseMap } from '../../queueing/sparse-map.ts';
import { isMirrorPod, isStaticPod, podFullName } from './classify-pod.ts';

/**
 * What the kubelet wants to run, and the mirrors that show its static pods to the API server (kubelet `pod.Manager`).
 * A static pod and its mirror have one full name and two uids; statuses are kept by the static pod's and written to the
 * mirror's.
 */
export class PodManager {
  readonly #pods = new SparseMap<string, Pod>();
  readonly #podsByFullName = new SparseMap<string, Pod>();
  readonly #mirrors = new SparseMap<string, Pod>();
  readonly #mirrorsByFullName = new SparseMap<string, Pod>();
  /** By the uid of a mirror: which pod it shows, or showed last. It is there for as long as the mirror. */
  readonly #shown = new Map<string, string>();

  /** Pods without mirrors. */
  get size(): number {
    return this.#pods.size;
  }

  /** Takes in a pod or a mirror, new or changed. */
  add(pod: Pod): void {
    const mirror = isMirrorPod(pod);
    (mirror ? this.#mirrors : this.#pods).set(uidOf(pod), pod);
    (mirror ? this.#mirrorsByFullName : this.#podsByFullName).set(podFullName(pod), pod);
    this.#noteShown(podFullName(pod));
  }

  /** As {@link add}: the pod as it is now takes the place of the one with its uid. */
  update(pod: Pod): void {
    this.add(pod);
  }

  /** Forgets a pod or a mirror. One that came under the same name in the meantime stays. */
  remove(pod: Pod): void {
    const mirror = isMirrorPod(pod);
    (mirror ? this.#mirrors : this.#pods).delete(uidOf(pod));
    if (mirror) this.#shown.delete(uidOf(pod));
    const byFullName = mirror ? this.#mirrorsByFullName : this.#podsByFullName;
    const fullName = podFullName(pod);
    const known = byFullName.get(fullName);
    if (known !== undefined && uidOf(known) === uidOf(pod)) byFullName.delete(fullName);
  }

  /** All pods, mirrors not included. */
  all(): Iterable<Pod> {
    return this.#pods.values();
  }

  mirrors(): Iterable<Pod> {
    return this.#mirrors.values();
  }

  /** A mirror's uid finds nothing here. */
  podByUid(uid: string): Pod | undefined {
    return this.#pods.get(uid);
  }

  mirrorByUid(uid: string): Pod | undefined {
    return this.#mirrors.get(uid);
  }

  /** By `name_namespace`. */
  podByFullName(fullName: string): Pod | undefined {
    return this.#podsByFullName.get(fullName);
  }

  mirrorByFullName(fullName: string): Pod | undefined {
    return this.#mirrorsByFullName.get(fullName);
  }

  /** The mirror that bears a static pod's name, whatever its hash; undefined for other pods. */
  mirrorOf(pod: Pod): Pod | undefined {
    return this.#mirrorsByFullName.get(podFullName(pod));
  }

  /** The pod that a mirror shows; undefined for an orphan. */
  podOfMirror(mirror: Pod): Pod | undefined {
    return this.#podsByFullName.get(podFullName(mirror));
  }

  /**
   * The uid under which a pod's status is kept, for a uid that the API server may have named. A mirror stands for its
   * static pod also when that has left its source: until the mirror goes, too, its end can be told.
   */
  translate(uid: string): string {
    return this.#shown.get(uid) ?? uid;
  }

  /**
   * The uid under which the API server knows a pod: its own, or for a static pod, there or gone, its mirror's; the empty
   * text for one without a mirror, whose status has nowhere to go (kubelet `GetUIDTranslations`).
   */
  apiUid(uid: string): string {
    const pod = this.#pods.get(uid);
    if (pod === undefined) return this.#mirrorThatShowed(uid) ?? uid;
    if (!isStaticPod(pod)) return uid;
    const mirror = this.mirrorOf(pod);
    return mirror === undefined ? '' : uidOf(mirror);
  }

  /** Mirrors of static pods that are no longer there: they are to be deleted once those have stopped. */
  orphanMirrors(): readonly Pod[] {
    return [...this.#mirrors.values()].filter((mirror) => this.podOfMirror(mirror) === undefined);
  }

  #noteShown(fullName: string): void {
    const [mirror, pod] = [this.#mirrorsByFullName.get(fullName), this.#podsByFullName.get(fullName)];
    if (mirror !== undefined && pod !== undefined) this.#shown.set(uidOf(mirror), uidOf(pod));
  }

  #mirrorThatShowed(uid: string): string | undefined {
    for (const [mirror, shown] of this.#shown) if (shown === uid) return mirror;
    return undefined;
  }
}

function uidOf(pod: Pod): string {
  return pod.metadata.uid ?? '';
}
