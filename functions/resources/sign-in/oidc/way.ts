import type { Way } from '../way.ts';
import { issuerName, issuerSettings } from './settings.ts';

export const oidc: Way = {
  path: '/oauth/sign-in',
  name: async () => {
    const settings = issuerSettings();
    return settings && issuerName(settings);
  },
};
