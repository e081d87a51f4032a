import type { DashboardAsset } from './source-assets.ts';

let assets: Promise<ReadonlyMap<string, DashboardAsset>> | undefined;

/**
 * The page (`''`), or one of its scripts and styles by its path below `/dashboard/assets/`. They are loaded at the first
 * call: a controller whose dashboard is not used does not hold them in memory.
 */
export async function dashboardAsset(path: string): Promise<DashboardAsset | undefined> {
  assets ??= import('./source-assets.ts').then(({ loadAssets }) => loadAssets());
  try {
    return (await assets).get(path);
  } catch (error) {
    assets = undefined; // read again by the next call
    throw error;
  }
}
