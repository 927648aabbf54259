import { expect, it } from 'vitest';
import { takeSettings } from '#runner/program/settings.ts';

it('the claim is removed from the environment', () => {
  const environment = { STEPFORM_URL: 'https://example.com/', STEPFORM_CLAIM: 'secret', PATH: '/bin' };
  const settings = takeSettings(environment);
  expect(settings).toMatchObject({ url: 'https://example.com', claim: 'secret' });
  expect(environment).not.toHaveProperty('STEPFORM_CLAIM');
  expect(JSON.stringify(settings.inherited)).not.toContain('secret');
});

it.each(['STEPFORM_URL', 'STEPFORM_CLAIM'])('the setting %s is required', (name) => {
  const environment: Record<string, string> = { STEPFORM_URL: 'x', STEPFORM_CLAIM: 'y' };
  delete environment[name];
  expect(() => takeSettings(environment)).toThrow(`environment variable ${name} is not set`);
});
