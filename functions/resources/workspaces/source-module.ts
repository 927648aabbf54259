/** What a workspace was made from (functions/features/no-code/). */
export interface SourceModule {
  noCodeId: string;
  /** `private/<organization>/<name>/<provider>`. */
  address: string;
  version: string;
}
