/** What a path below `/dashboard/assets/` answers. */
export interface DashboardAsset {
  readonly contentType: string;
  readonly body: string;
}
