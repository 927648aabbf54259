import { type Check, ok } from '../check.ts';

/** Performed before all checks that need an organization. */
export const organization: Check = {
  name: 'organization',
  proves: 'The Bootstrap function creates an organization, and its one-time secret signs in',
  documented: 'as in the README',
  part: 'canary',
  async perform(platform) {
    await platform.signIn();
    await platform.client.call('PATCH', `/organizations/${platform.organization}`, {
      data: { type: 'organizations', attributes: { 'cost-estimation-enabled': true } },
    });
    return ok(platform.organization);
  },
};
