import type { Way } from '../way.ts';
import { samlName, usableSettings } from './settings/records.ts';

export const saml: Way = {
  path: '/users/saml/sign-in',
  name: async () => {
    const settings = await usableSettings();
    return settings && samlName(settings);
  },
};
