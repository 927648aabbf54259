import { expect, it } from 'vitest';
import { readFunctionSettings } from '#infra/local/aws/lambda/function-settings.ts';

it('functions get the organization whose runs start only if the operator names one', () => {
  expect(readFunctionSettings({})).not.toHaveProperty('RUNS_OF');
  expect(readFunctionSettings({ STEPFORM_RUNS_OF: '' })).not.toHaveProperty('RUNS_OF');
  expect(readFunctionSettings({ STEPFORM_RUNS_OF: 'acme' })).toMatchObject({ RUNS_OF: 'acme' });
});

it.each(['acme,other', 'acme other', 'a'])('%s is rejected as the organization whose runs start', (name) => {
  expect(() => readFunctionSettings({ STEPFORM_RUNS_OF: name })).toThrow(
    `STEPFORM_RUNS_OF must be the name of one organization; it is ${name}`,
  );
});
