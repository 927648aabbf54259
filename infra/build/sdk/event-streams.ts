/** No operation in use streams events. */
export class EventStreamSerde {
  constructor() {
    throw new Error('event streams are left out of the bundles (infra/build/sdk.ts)');
  }
}
export const eventStreamSerdeProvider = undefined;
