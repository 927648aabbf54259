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

it('run tasks get another time limit only if the operator names one', () => {
  expect(readFunctionSettings({})).not.toHaveProperty('RUN_TASK_SECONDS');
  expect(readFunctionSettings({ STEPFORM_RUN_TASK_SECONDS: '30' })).toMatchObject({ RUN_TASK_SECONDS: '30' });
});

it.each(['0', '1m'])('%s is rejected as the interval at which commits are archived', (text) => {
  expect(readFunctionSettings({ STEPFORM_COMMIT_ARCHIVE_SECONDS: '5' })).toMatchObject({ COMMIT_ARCHIVE_SECONDS: '5' });
  expect(() => readFunctionSettings({ STEPFORM_COMMIT_ARCHIVE_SECONDS: text })).toThrow(
    `STEPFORM_COMMIT_ARCHIVE_SECONDS must be a number from 1 on; it is ${text}`,
  );
});

it.each(['0', '601', '1m'])('%s is rejected as the time limit of run tasks', (text) => {
  expect(() => readFunctionSettings({ STEPFORM_RUN_TASK_SECONDS: text })).toThrow(
    `STEPFORM_RUN_TASK_SECONDS must be a number from 1 to 600; it is ${text}`,
  );
});
