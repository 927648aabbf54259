/** Messages of event streams are signed with it; no operation that is called here streams events. */
export class HeaderFormatter {
  format(): never {
    throw new Error('event streams are left out of the bundles (infra/build/sdk.ts)');
  }
}
