/** The no-code module from which a workspace was created (functions/features/no-code/). */
export interface SourceModule {
  noCodeId: string;
  /** `private/<organization>/<name>/<provider>`. */
  address: string;
  version: string;
}
