import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { misspelledVariables, settings } from '#infra/local/commands/misspelled-variables.ts';

const document = readFileSync(new URL('../../../infra/docs/local.md', import.meta.url), 'utf8');

it('a warning names the setting nearest to a misspelled variable', () => {
  expect(misspelledVariables({ STEPFORM_WARM_RUNNER: '1', STEPFORM_SMPT: 'x', PATH: '/bin' })).toEqual([
    'STEPFORM_WARM_RUNNER is not a setting and is ignored. Did you mean STEPFORM_WARM_RUNNERS?',
    'STEPFORM_SMPT is not a setting and is ignored. Did you mean STEPFORM_SMTP?',
  ]);
});

it('every documented variable is a known setting', () => {
  const documented = [...document.matchAll(/STEPFORM_([A-Z_]+[A-Z])/g)].map(([, name = '']) => name);
  const endings = [...document.matchAll(/`…_([A-Z_]+)`/g)].map(([, name = '']) => `SIGN_IN_${name}`);
  expect(endings.length).toBeGreaterThan(5);
  expect([...documented, ...endings].filter((name) => !settings.includes(name))).toEqual([]);
  const environment = Object.fromEntries(settings.map((name) => [`STEPFORM_${name}`, '1']));
  expect(misspelledVariables(environment)).toEqual([]);
});

it('variables of tests and other programs cause no warning', () => {
  expect(misspelledVariables({ STEPFORM_GITEA: '1', STEPFORM_BROWSER: 'none', STEPFORM_TEST_TLS: '1' })).toEqual([]);
});
